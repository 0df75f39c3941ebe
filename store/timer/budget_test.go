package timer_test

import (
	"sync"
	"testing"

	"github.com/wheelmq/wheelmq/store/region"
	"github.com/wheelmq/wheelmq/store/timer"
)

// TestTimeline_HasFewOpenBlocks goes on when more seconds have entries than may be in memory.
func TestTimeline_HasFewOpenBlocks(t *testing.T) {
	t.Parallel()
	disk := region.NewMemory()
	tl := fresh(t, disk)
	tl.Back(noon - 12*3600)
	want := make(map[int64][]timer.Entry)
	for n := range int64(40_000) {
		second := noon - 12*3600 + n*7919%(13*3600)
		e := timer.Entry{Due: second * 1000, LogOffset: n, Size: 1}
		add(t, tl, e)
		want[second] = append(want[second], e)
	}
	for second, entries := range want {
		expect(t, tl, second, entries...)
	}
	s, err := tl.State()
	if err != nil {
		t.Fatal(err)
	}
	again := open(t, disk, s)
	for second, entries := range want {
		expect(t, again, second, entries...)
	}
}

// TestSync_RunsBesideItsOwner is for the race detector.
func TestSync_RunsBesideItsOwner(t *testing.T) {
	t.Parallel()
	disk := region.NewMemory()
	tl := fresh(t, disk)
	n := int64(0)
	some := func() {
		for range 700 {
			add(t, tl, entry(n, n%20*1000))
			n++
		}
	}
	some()
	for range 20 {
		s, err := tl.State()
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := tl.Sync(); err != nil {
				t.Error(err)
			}
		})
		some()
		second, _ := tl.Next()
		if _, err := read(tl, second); err != nil {
			t.Error(err)
		}
		wg.Wait()
		tl.Saved(s)
	}
}

// TestReader_OutlivesItsFiles reads from mapped files that are done and saved away.
func TestReader_OutlivesItsFiles(t *testing.T) {
	t.Parallel()
	disk := region.OS{Root: t.TempDir()}
	tl := fresh(t, disk)
	for n := range int64(1000) {
		add(t, tl, entry(n, 0))
	}
	r, err := tl.Read(noon)
	if err != nil {
		t.Fatal(err)
	}
	save := func() {
		t.Helper()
		s, err := tl.State()
		if err != nil {
			t.Fatal(err)
		}
		if err := tl.Sync(); err != nil {
			t.Fatal(err)
		}
		tl.Saved(s)
	}
	save()
	if err := tl.Done(noon); err != nil {
		t.Fatal(err)
	}
	save()
	for n := range int64(1000) {
		if item, ok := r.Next(); !ok || item.Entry != entry(n, 0) {
			t.Fatalf("entry %d is %+v, %v: %v", n, item, ok, r.Err())
		}
	}
	r.Close()
	save()
	if names := files(t, disk); len(names) > 1 {
		t.Errorf("%v is left of nothing", names)
	}
}

func TestAdd_AllocatesNothing(t *testing.T) {
	tl := fresh(t, region.NewMappedMemory())
	n := int64(0)
	one := func() {
		add(t, tl, timer.Entry{Due: (noon + n%3600) * 1000, LogOffset: n, Size: 1})
		n++
	}
	for range 4000 {
		one()
	}
	// What is left are files, one for thousands of entries.
	if allocs := testing.AllocsPerRun(10_000, one); allocs > 0.1 {
		t.Errorf("%v allocations for each entry", allocs)
	}
}
