package timer_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wheelmq/wheelmq/store/region"
)

// brokenDisk is one that gives some records of segments broken, from some moment on.
type brokenDisk struct {
	region.FS
	records []int
	breaks  *atomic.Bool
}

func (d brokenDisk) Open(name string, size int) (region.Region, error) {
	r, err := d.FS.Open(name, size)
	if err != nil || !d.breaks.Load() || !strings.Contains(name, "segment") {
		return r, err
	}
	b := slices.Clone(r.Bytes())
	breakRecords(b, d.records)
	return brokenRegion{r, b}, nil
}

type brokenRegion struct {
	region.Region
	b []byte
}

func (r brokenRegion) Bytes() []byte { return r.b }

// TestService_DamageOnAFullDisk has records broken of an hour, or a day, that a full disk keeps from being
// sorted, before it is due or behind that: each message comes once, in time, and none that was cancelled,
// also when there is room in the end and the files are sorted after all.
func TestService_DamageOnAFullDisk(t *testing.T) {
	t.Parallel()
	for name, ahead := range map[string]int64{"hour": 10 * hour, "day": 100 * hour} {
		for _, inOrder := range []bool{true, false} {
			for _, before := range []bool{true, false} {
				for _, restart := range []bool{true, false} {
					t.Run(fmt.Sprintf("%s, in order %v, broken before %v, restart %v", name, inOrder, before, restart), func(t *testing.T) {
						t.Parallel()
						damageOnAFullDisk(t, ahead, inOrder, before, restart)
					})
				}
			}
		}
	}
}

func damageOnAFullDisk(t *testing.T, ahead int64, inOrder, before, restart bool) {
	full, breaks := new(atomic.Bool), new(atomic.Bool)
	l := newLabIn(t)
	l.inOrder = inOrder
	l.files = func(fs region.FS) region.FS {
		return brokenDisk{fullDisk{fs, full}, []int{1, 2, 3, 11, 21, 22}, breaks}
	}
	l.open()
	defer func() { l.close() }()
	var want strings.Builder
	for i := range int64(20) {
		l.send("T", fmt.Sprint(i), at(startMs+ahead+i*1000), key(fmt.Sprint("K", i)))
		if i%5 > 0 {
			fmt.Fprintf(&want, "%d+%d ", i, ahead+i*1000)
		}
	}
	for i := int64(0); i < 20; i += 5 {
		l.send("T", "0", at(startMs+ahead+i*1000), cancels(fmt.Sprint("K", i)))
	}
	l.send("Later", "x", at(startMs+ahead+1000*1000))
	l.settle()
	full.Store(true)
	breaks.Store(before)
	l.clock.Set(startMs + ahead - hour/2)
	l.settle()
	for i := range int64(20) {
		l.clock.Set(startMs + ahead + i*1000)
		l.settle()
		l.settle() // what is looked for has been found
	}
	if got := l.bodies("T"); got != want.String() {
		t.Errorf("delivered %s, want %s", got, want.String())
	}
	breaks.Store(true)
	full.Store(false)
	if restart {
		l.close()
		l.open()
	}
	// Time goes on while files are sorted: their retries are paced by real time.
	l.await("the sort", func() bool {
		l.clock.Set(l.clock.NowMillis() + 100)
		l.settle()
		return l.hasRun() || l.count("Later") > 0
	})
	l.clock.Set(max(l.clock.NowMillis(), startMs+ahead+1100*1000))
	l.await("the last one", func() bool { return l.count("Later") == 1 })
	l.settle()
	if n := l.count("T"); n != 16 || l.service.Count() != 0 {
		t.Errorf("in the end %s, and %d pend", l.bodies("T"), l.service.Count())
	}
	for _, e := range l.said.AllEntries() {
		if strings.Contains(e.Message, "cannot be read and is lost") {
			t.Error(e.Message, e.Data)
		}
	}
}

// noSegments is a disk that has no room for what arrives, and has some for what is sorted.
type noSegments struct {
	region.FS
	full *atomic.Bool
}

func (f noSegments) Open(name string, size int) (region.Region, error) {
	r, err := f.FS.Open(name, size)
	if strings.Contains(name, "segment") {
		return fullRegion{r, f.full}, err
	}
	return r, err
}

// TestService_DamageWithoutRoom has a day's file broken, and no room for what the log has of it: that waits,
// and comes.
func TestService_DamageWithoutRoom(t *testing.T) {
	t.Parallel()
	full := new(atomic.Bool)
	l := newLabIn(t)
	l.files = func(fs region.FS) region.FS { return noSegments{fs, full} }
	l.open()
	defer func() { l.close() }()
	due := int64(startMs + 100*hour)
	var want strings.Builder
	for i := range int64(20) {
		l.send("T", fmt.Sprint(i), at(due+i))
		fmt.Fprintf(&want, "%d+%d ", i, due-startMs+i)
	}
	l.close()
	l.breakRecords("segment", 1, 2, 3, 19)
	l.open()
	full.Store(true)
	l.clock.Set(due - 47*hour)
	l.await("the split of the day", func() bool {
		next := l.settle()
		return l.hasRun() && next < due
	})
	if n := l.service.Count(); n != 20 {
		t.Errorf("%d pend", n)
	}
	full.Store(false)
	for next := l.settle(); next < math.MaxInt64; next = l.settle() {
		l.clock.Set(next)
	}
	if got := l.bodies("T"); got != want.String() {
		t.Errorf("delivered %s, want %s", got, want.String())
	}
}
