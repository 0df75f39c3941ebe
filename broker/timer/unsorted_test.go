package timer_test

import (
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/store/region"
)

// fullDisk is one that has no room for the service's files while a test wants that.
type fullDisk struct {
	region.FS
	full *atomic.Bool
}

func (f fullDisk) Open(name string, size int) (region.Region, error) {
	r, err := f.FS.Open(name, size)
	return fullRegion{r, f.full}, err
}

func (f fullDisk) WriteFile(name string, data []byte) error {
	if f.full.Load() {
		return region.ErrNoSpace
	}
	return f.FS.WriteFile(name, data)
}

type fullRegion struct {
	region.Region
	full *atomic.Bool
}

func (r fullRegion) Reserve(from, to int) error {
	if r.full.Load() {
		return region.ErrNoSpace
	}
	return r.Region.Reserve(from, to)
}

// TestService_AFullDiskDelaysNobody has hours come due, and days, that a full disk keeps from being
// sorted: what is far in them is delivered at its instant, and so is what is near.
func TestService_AFullDiskDelaysNobody(t *testing.T) {
	t.Parallel()
	for _, inOrder := range []bool{true, false} {
		for name, ahead := range map[string]int64{"hours": 3 * hour, "days": 100 * hour} {
			for _, until := range []int64{0, 1500, math.MaxInt64} {
				t.Run(fmt.Sprintf("%s, in order %v, until %d", name, inOrder, until), func(t *testing.T) {
					t.Parallel()
					dueUnsorted(t, inOrder, ahead, until)
				})
			}
		}
	}
}

// dueUnsorted has messages due from an instant on, while the disk is full up to so many ms later.
func dueUnsorted(t *testing.T, inOrder bool, ahead, until int64) {
	var full atomic.Bool
	l := newLabIn(t)
	l.inOrder, l.saveMs = inOrder, 1_000_000
	l.files = func(fs region.FS) region.FS { return fullDisk{fs, &full} }
	l.open()
	defer func() { l.close() }()
	due := startMs + ahead
	for i := range int64(40) {
		l.send("T", fmt.Sprint("far", i), at(due+i*100), key(fmt.Sprint("K", i)))
	}
	l.send("T", "0", at(due+500), cancels("K5"))
	l.send("Later", "x", delay(ahead+2*hour))
	l.settle()
	moved := l.idOf("far7")
	full.Store(true)
	l.clock.Set(due - hour/2)
	l.settle()
	for i := range int64(40) {
		l.send("T", fmt.Sprint("near", i), at(due+i*100+50), key(fmt.Sprint("N", i)))
	}
	l.send("T", "0", at(due+650), cancels("N6"))
	l.send("T", "0", at(due+900), cancels("K9"))
	l.settle()
	l.await("the sort", func() bool { return strings.Contains(l.health.Report().Parts["timers"].Reason, "cannot be sorted") })
	if _, err := l.service.Reschedule(t.Context(), moved, due+3333); err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for ms := int64(0); ms < 4000; ms++ {
		switch i := ms / 100; {
		case ms%100 == 0 && i != 5 && i != 7 && i != 9:
			fmt.Fprintf(&want, "far%d+%d ", i, ahead+ms)
		case ms%100 == 50 && i != 6:
			fmt.Fprintf(&want, "near%d+%d ", i, ahead+ms)
		case ms == 3333:
			fmt.Fprintf(&want, "far7+%d ", ahead+ms)
		}
	}
	for ms := int64(0); ms < 5000; ms++ {
		if ms == until {
			full.Store(false)
		}
		if ms%50 == 0 || ms == 3333 {
			l.clock.Set(due + ms)
			l.settle()
		}
	}
	if got := l.bodies("T"); got != want.String() {
		t.Errorf("delivered %s, want %s", got, want.String())
	}
	l.clock.Set(due + 2*hour)
	l.settle()
	full.Store(false)
	l.close()
	l.open()
	l.clock.Set(due + 3*hour)
	l.settle()
	if n := l.count("T"); n != 77 || l.count("Later") != 1 || l.service.Count() != 0 {
		t.Errorf("in the end %d messages, %d later, %d pend", n, l.count("Later"), l.service.Count())
	}
	l.awaitHealth(health.Up, "")
}
