package timer_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// unsorted opens a lab in which nothing becomes durable between calls of stop and release, so that
// no hour is sorted: files must be there before.
func unsorted(t *testing.T) (l *lab, stop, release func()) {
	t.Helper()
	l = newLabIn(t)
	gate := make(chan struct{})
	var closed atomic.Bool
	l.inOrder, l.saveMs, l.flushMs = false, 1_000_000, 1_000_000
	l.disk.OnSync(func() {
		if closed.Load() {
			<-gate
		}
	})
	l.open()
	return l, func() { closed.Store(true) }, sync.OnceFunc(func() {
		closed.Store(false)
		close(gate)
	})
}

// listed is what pends, in order.
func (l *lab) listed() string {
	l.t.Helper()
	var text strings.Builder
	for p := range l.service.Pending() {
		rec, err := l.service.Read(p)
		if err != nil {
			l.t.Fatal(err)
		}
		fmt.Fprintf(&text, "%s ", rec.Body)
	}
	return text.String()
}

// TestService_Pending_UnsortedHour lists near and far messages of an hour that is not sorted yet, and
// those of the hours around it.
func TestService_Pending_UnsortedHour(t *testing.T) {
	t.Parallel()
	l, stop, release := unsorted(t)
	defer func() {
		release()
		l.close()
	}()
	// startMs is a whole hour: what is due within two hours is near.
	for body, ms := range map[string]int64{"far1": 3*hour + 1_000_500, "far2": 3*hour + 2_000_500, "day": 100 * hour, "hours": 30 * hour} {
		l.send("T", body, delay(ms))
	}
	l.settle()
	stop()
	l.clock.Set(startMs + hour*2)
	l.settle()
	for body, ms := range map[string]int64{
		"near0": hour / 2, "near1": hour + 500, "near2": hour + 1_500_500, "near3": hour + 2_000_501, "far3": 2*hour + 500,
	} {
		l.send("T", body, delay(ms))
	}
	l.settle()
	if got, want := l.listed(), "near0 near1 far1 near2 far2 near3 far3 hours day "; got != want {
		t.Errorf("%s pend, want %s", got, want)
	}
	if n := l.service.Count(); n != 9 {
		t.Errorf("%d count, want 9", n)
	}
}

// spoil makes the record at a log offset unreadable.
func (l *lab) spoil(commitLogOffset int64) {
	l.t.Helper()
	entries, err := l.disk.List("commitlog")
	if err != nil || len(entries) == 0 {
		l.t.Fatal("no log", err)
	}
	r, err := l.disk.Open("commitlog/"+entries[0].Name, 0)
	if err != nil {
		l.t.Fatal(err)
	}
	clear(r.Bytes()[commitLogOffset+4 : commitLogOffset+8])
}

// TestService_List_Unreadable counts what it cannot read, and gives what a cancel that cannot be read
// may have removed.
func TestService_List_Unreadable(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	defer l.close()
	l.send("T", "first", at(startMs+1_000_000))
	l.send("T", "removed", at(startMs+1_800_500), key("K"))
	cancel := l.send("T", "0", at(startMs+1_800_001), cancels("K"))
	lost := l.send("T", "lost", at(startMs+1_900_000))
	l.settle()
	list := func() (got []string, unread int64) {
		look := l.service.List(0)
		for p := range look.All() {
			rec, err := l.service.Read(p)
			if err != nil {
				got = append(got, "unreadable")
				continue
			}
			got = append(got, string(rec.Body))
		}
		return got, look.Unread()
	}
	if got, unread := list(); fmt.Sprint(got) != "[first lost]" || unread != 0 {
		t.Errorf("%v, %d unread", got, unread)
	}
	l.spoil(cancel.CommitLogOffset)
	l.spoil(lost.CommitLogOffset)
	if got, unread := list(); fmt.Sprint(got) != "[first removed unreadable]" || unread != 1 {
		t.Errorf("%v, %d unread, want the cancel's", got, unread)
	}
	said := 0
	for _, e := range l.said.AllEntries() {
		if strings.Contains(e.Message, "cannot be read by who looks") {
			said++
		}
	}
	if said != 2 {
		t.Errorf("told %d times, want 2", said)
	}
}

// TestService_ClosedListsNothing and takes nothing in: its files are another's now.
func TestService_ClosedListsNothing(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.send("T", "a", delay(5000))
	l.settle()
	if err := l.service.Close(); err != nil {
		t.Fatal(err)
	}
	l.send("T", "b", delay(50*hour))
	for p := range l.service.Pending() {
		t.Errorf("%+v is listed", p)
	}
	if p := l.service.Progress(); p.QueueOffset != 1 || p.Pending != 2 {
		t.Errorf("%+v", p)
	}
	if err := l.store.Close(); err != nil {
		t.Fatal(err)
	}
}
