package timer_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/store/region"
)

// TestService_BrokenSortedRecords spoils records of an hour that is sorted: what they had is in the log,
// and comes with the rest of their second.
func TestService_BrokenSortedRecords(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string][]int{
		"the first": {0}, "the last": {41}, "some": {5, 6, 20, 21}, "cancels": {30, 31}, "all": nil,
	} {
		for _, inOrder := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, in order %v", name, inOrder), func(t *testing.T) {
				t.Parallel()
				brokenSorted(t, inOrder, broken)
			})
		}
	}
}

// brokenSorted has 40 messages due within a second, two of them cancelled, and spoils records of theirs,
// nil: all.
func brokenSorted(t *testing.T, inOrder bool, broken []int) {
	l := newLabIn(t)
	l.inOrder = inOrder
	l.open()
	defer func() { l.close() }()
	due := int64(startMs + 10*hour + 5000)
	for i := range 30 {
		l.send("T", fmt.Sprint(i), at(due+1+int64(i)), key(fmt.Sprint("K", i)))
	}
	for i := range 2 {
		l.send("T", "0", at(due+1), cancels(fmt.Sprint("K", i*4)))
	}
	for i := range 10 {
		l.send("T", fmt.Sprint(30+i), at(due+1+int64(30+i)), key(fmt.Sprint("K", 30+i)))
	}
	l.send("Others", "x", at(due+60_000))
	l.settle()
	l.clock.Set(due - hour/2)
	l.settle()
	l.await("the hour is sorted", l.hasRun)
	l.close()
	if broken == nil {
		for n := range 42 {
			broken = append(broken, n)
		}
	}
	l.breakRecords("run", broken...)
	l.open()
	if inOrder {
		for next := l.settle(); next < math.MaxInt64; next = l.settle() {
			l.clock.Set(next)
		}
	} else {
		l.clock.Set(due + 900) // what removes messages is looked for first
		l.await("what is due", func() bool { return l.count("T") == 38 })
		l.clock.Set(due + hour)
	}
	l.await("all of them", func() bool { return l.count("T") == 38 && l.count("Others") == 1 })
	var want strings.Builder
	for i := range 40 {
		if i != 0 && i != 4 {
			fmt.Fprintf(&want, "%d ", i)
		}
	}
	var got strings.Builder
	for _, d := range l.read("T") {
		fmt.Fprintf(&got, "%s ", d.body)
	}
	if got.String() != want.String() {
		t.Errorf("delivered %s, want %s", got.String(), want.String())
	}
	l.settle()
	if n := l.service.Count(); n != 0 {
		t.Errorf("%d messages pend in the end", n)
	}
	l.awaitHealth(health.Degraded, "damaged")
}

// hasRun tells whether something far is sorted.
func (l *lab) hasRun() bool {
	entries, err := l.disk.List("timer/absolute/far")
	return err == nil && slices.ContainsFunc(entries, func(e region.Entry) bool {
		return strings.Contains(e.Name, "run") && strings.HasSuffix(e.Name, "index")
	})
}
