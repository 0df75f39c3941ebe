package timer_test

import (
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/store/region"
	"github.com/wheelmq/wheelmq/store/timer"
)

const (
	noon   = int64(1_800_000_000) / 3600 * 3600 // a whole hour, seconds
	anyEnd = int64(1) << 40                     // of a CommitLog that holds everything
)

func options(fs region.FS) timer.Options {
	log := logrus.New()
	log.SetOutput(io.Discard)
	return timer.Options{FS: fs, Dir: "timer/delay", Log: log, ChunkSize: 4096}
}

func open(t testing.TB, fs region.FS, saved *timer.State) *timer.Timeline {
	t.Helper()
	tl, err := timer.Open(options(fs), saved, anyEnd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tl.Close(); err != nil {
			t.Error(err)
		}
	})
	return tl
}

// fresh is an empty Timeline at noon.
func fresh(t testing.TB, fs region.FS) *timer.Timeline {
	t.Helper()
	tl := open(t, fs, nil)
	if jobs := tl.Prepare(noon * 1000); len(jobs) != 0 {
		t.Fatalf("%d jobs for nothing", len(jobs))
	}
	return tl
}

// entry is the n-th message, due some ms after noon.
func entry(n, ms int64) timer.Entry {
	return timer.Entry{Due: noon*1000 + ms, LogOffset: n * 100, Size: 100}
}

func add(t testing.TB, tl *timer.Timeline, entries ...timer.Entry) {
	t.Helper()
	for _, e := range entries {
		if err := tl.Add(e, e.Due/1000, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// read is what a second has.
func read(tl *timer.Timeline, second int64) ([]timer.Entry, error) {
	r, err := tl.Read(second)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var got []timer.Entry
	for {
		item, ok := r.Next()
		if !ok {
			return got, r.Err()
		}
		got = append(got, item.Entry)
	}
}

func expect(t testing.TB, tl *timer.Timeline, second int64, want ...timer.Entry) {
	t.Helper()
	got, err := read(tl, second)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("second %d has %v, not %v", second, got, want)
	}
	if n := tl.Count(second); n != int64(len(want)) {
		t.Errorf("second %d counts %d entries, not %d", second, n, len(want))
	}
}

func TestTimeline_ReadsInArrivalOrder(t *testing.T) {
	t.Parallel()
	tl := fresh(t, region.NewMemory())
	var first, second []timer.Entry
	for n := range int64(500) {
		first = append(first, entry(2*n, 1999-n))
		second = append(second, entry(2*n+1, 3000+n))
		add(t, tl, first[n], second[n])
		if n == 100 || n == 130 {
			if _, err := tl.State(); err != nil {
				t.Fatal(err)
			}
		}
	}
	expect(t, tl, noon+1, first...)
	expect(t, tl, noon+3, second...)
	expect(t, tl, noon+2)
	if s := tl.Stats(); s.Near != 1000 || s.Far != 0 || s.Damaged != 0 {
		t.Errorf("%+v", s)
	}
}

func TestTimeline_HandMovesOverWhatIsDone(t *testing.T) {
	t.Parallel()
	tl := fresh(t, region.NewMemory())
	add(t, tl, entry(1, 5_000), entry(2, 3_600_500), entry(3, 5_100))
	if err := tl.Done(noon + 6); !errors.Is(err, timer.ErrPending) {
		t.Errorf("a pending second was passed over: %v", err)
	}
	for _, want := range []int64{noon + 5, noon + 3600} {
		got, ok := tl.Next()
		if !ok || got != want {
			t.Fatalf("next is %d, %v, not %d", got, ok, want)
		}
		if err := tl.Done(got); err != nil || tl.Hand() != got+1 {
			t.Fatalf("the hand is at %d: %v", tl.Hand(), err)
		}
		expect(t, tl, got)
	}
	if second, ok := tl.Next(); ok {
		t.Errorf("next is %d", second)
	}
	if err := tl.Add(entry(4, 1000), noon+1, nil); !errors.Is(err, timer.ErrDone) {
		t.Errorf("a done second took an entry: %v", err)
	}
	if err := tl.Done(tl.NearEnd()); !errors.Is(err, timer.ErrNotReady) {
		t.Errorf("a far second is done: %v", err)
	}
	tl.Back(noon + 2)
	add(t, tl, entry(5, 2_000), entry(6, 5_000))
	expect(t, tl, noon+2, entry(5, 2_000))
	expect(t, tl, noon+5, entry(6, 5_000))
}
