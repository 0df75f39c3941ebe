package schedule

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestBacklog_AnyOrder_HandsOutWhatIsDue compares a backlog with a plain set of units: whatever
// the order of due instants, nothing is handed out early or twice, and what is due waits at most
// the slack.
func TestBacklog_AnyOrder_HandsOutWhatIsDue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		b := newBacklog(0)
		pending := map[int64]int64{} // unit to instant
		dues := []int64{}
		now := int64(0)
		rt.Repeat(map[string]func(*rapid.T){
			"add": func(rt *rapid.T) {
				for range rapid.IntRange(1, 8).Draw(rt, "units") {
					due := now + rapid.Int64Range(1, 50).Draw(rt, "delay")
					pending[b.scanned] = due
					dues = append(dues, due)
					b.add(due)
				}
			},
			"deliver": func(rt *rapid.T) {
				now += rapid.Int64Range(0, 30).Draw(rt, "ms")
				for r := b.earliest(); r != nil && r.due <= now; r = b.earliest() {
					if _, there := pending[r.next]; !there {
						rt.Fatalf("unit %d is handed out again", r.next)
					}
					delete(pending, r.next)
					r.next++
					r.done = r.next
					r.due = never
					if r.next < r.end {
						r.due = dues[r.next]
					}
				}
				b.sweep()
				for unit, due := range pending {
					if due+orderSlackMs <= now {
						rt.Fatalf("unit %d is due since %d ms", unit, now-due)
					}
				}
			},
			"restart": func(rt *rapid.T) {
				scanned := b.scanned
				restored, ok := restore(b.lowest(), b.spans())
				if b = restored; !ok || b.scanned != scanned {
					rt.Fatalf("restored up to %d, want %d", b.scanned, scanned)
				}
				for _, r := range b.runs {
					r.due = dues[r.next]
				}
			},
			"recognise": func(rt *rapid.T) {
				unit := rapid.Int64Range(0, max(0, b.scanned-1)).Draw(rt, "unit")
				_, there := pending[unit]
				if b.remove(unit) != there {
					rt.Fatalf("unit %d was pending: %v, says the other", unit, there)
				}
				delete(pending, unit)
				for _, r := range b.runs {
					if r.due = never; r.next < r.end {
						r.due = dues[r.next]
					}
				}
			},
			"": func(rt *rapid.T) {
				if n := b.count(); n != int64(len(pending)) {
					rt.Fatalf("%d units are pending, want %d", n, len(pending))
				}
				want := b.scanned
				if len(pending) > 0 {
					want = slices.Min(slices.Collect(maps.Keys(pending)))
				}
				if got := b.lowest(); got != want {
					rt.Fatalf("the lowest pending unit is %d, want %d", got, want)
				}
			},
		})
	})
}

// TestBacklog_Bounded has instants that fall all the time: memory is bounded, and a large step
// still makes a run of its own.
func TestBacklog_Bounded(t *testing.T) {
	t.Parallel()
	const hour = 3_600_000
	b := newBacklog(0)
	for i := range int64(1_000_000) {
		// Pairs that pass one another by 10 ms.
		b.add(hour + 20*i - i%2*30)
	}
	if n := len(b.runs); n < freeRuns || n > maxRuns {
		t.Fatalf("%d runs, want more than %d and at most %d", n, freeRuns, maxRuns)
	}
	n := len(b.runs)
	b.add(1000)
	if len(b.runs) != n+1 || b.earliest().due != 1000 {
		t.Fatalf("a step back of hours made no run: the earliest is due at %d", b.earliest().due)
	}
	for i := range int64(10_000) {
		b.add(1_000_000*hour - i*1000*hour)
	}
	if n := len(b.runs); n > maxRuns {
		t.Fatalf("%d runs, want at most %d", n, maxRuns)
	}
}

// TestBacklog_Clip drops what the queue does not have.
func TestBacklog_Clip(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lowest, highest, dropped, count, first int64
	}{
		"nothing":      {0, 10, 0, 10, 0},
		"the head":     {3, 10, 3, 7, 3},
		"a whole run":  {6, 10, 6, 4, 6},
		"the end":      {0, 7, 3, 7, 0},
		"both":         {2, 4, 8, 2, 2},
		"everything":   {20, 20, 10, 0, 20},
		"all of it, 0": {0, 0, 10, 0, 0},
	} {
		b := newBacklog(0)
		for i := range int64(10) {
			b.add([]int64{1000, 500}[i/5] + i)
		}
		if got := b.clip(c.lowest, c.highest); got != c.dropped {
			t.Errorf("%s: %d dropped, want %d", name, got, c.dropped)
		}
		if b.count() != c.count || b.lowest() != c.first {
			t.Errorf("%s: %d left from %d on, want %d from %d", name, b.count(), b.lowest(), c.count, c.first)
		}
	}
}

func TestRestore_RefusesWhatMakesNoBacklog(t *testing.T) {
	t.Parallel()
	for name, list := range map[string][][2]int64{
		"another beginning": {{4, 9}},
		"backward":          {{5, 9}, {8, 12}},
		"inside out":        {{5, 4}},
	} {
		if b, ok := restore(5, list); ok || b.scanned != 5 || len(b.runs) > 0 {
			t.Errorf("%s: restored %v", name, b.spans())
		}
	}
}

// BenchmarkBacklog_Add is one unit of a start's look through a queue.
func BenchmarkBacklog_Add(b *testing.B) {
	l := newBacklog(0)
	b.ReportAllocs()
	for i := range int64(b.N) {
		l.add(i - i%3)
	}
	if len(l.runs) != 1 {
		b.Fatalf("%d runs, want one", len(l.runs))
	}
}
