package pop_test

import (
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/broker/pop"
	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/store/region"
)

// TestRecover_ACopyThatAPowerCutTookIsMadeAgain: the journal is durable, the copy is not.
func TestRecover_ACopyThatAPowerCutTookIsMadeAgain(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.open()
	l.send("T", 0, "a", "b")
	l.pop(window, 2, 100)
	l.must(l.store.Flush())
	l.turn(100)
	l.must(l.service.Save())
	var left *region.Memory
	l.service.Hold(func() { left = l.disk.Crash() })
	for range 3 {
		l.close()
		l.disk = left
		l.open()
		l.settle()
		l.service.Hold(func() { left = l.disk.Killed() })
	}
	handles := l.pop(retry, 32, 100)
	if len(handles) != 2 {
		t.Errorf("%d messages came back, want each once", len(handles))
	}
	l.close()
}

// TestRecover_WhatAPowerCutTookOfAQueueIsForgotten: messages were popped and acknowledged before they
// were durable. What comes in their places is handed out.
func TestRecover_WhatAPowerCutTookOfAQueueIsForgotten(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.open()
	l.send("T", 0, "a")
	l.must(l.store.Flush())
	l.send("T", 0, "b", "c")
	handles := l.pop(window, 3, 60_000)
	l.ack(handles[2])
	l.must(l.service.Save())
	var left *region.Memory
	l.service.Hold(func() { left = l.disk.Crash() })
	l.close()
	l.disk = left
	l.open()
	if n := l.service.InFlight("G", "T"); n != 1 {
		t.Errorf("%d are in flight", n)
	}
	l.send("T", 0, "d", "e")
	if got := l.pop(window, 3, 60_000); len(got) != 2 || got[0].body != "d" {
		t.Errorf("popped %q", bodies(got))
	}
	l.turn(60_000)
	if got := l.pop(retry, 8, 1000); len(got) != 3 {
		t.Errorf("%q came back", bodies(got))
	}
	l.close()
}

// spoiledAfterPops leaves a closed service that handed out n messages one by one, with the bytes from..to of
// its journal spoiled.
func (l *lab) spoiledAfterPops(n, from, to int) {
	l.t.Helper()
	l.open()
	for range n {
		l.send("T", 0, "a")
	}
	for range n {
		l.pop(window, 1, 60_000)
	}
	l.close()
	r, err := l.disk.Open("pop/0000000001", 0)
	l.must(err)
	for at := from; at < to; at++ {
		r.Bytes()[at] ^= 0x55
	}
	l.must(r.Sync(0, len(r.Bytes())))
}

// TestRecover_DamageDeliversAgainWhatMayBeOpen spoils the journal: nothing is lost, and it is told.
func TestRecover_DamageDeliversAgainWhatMayBeOpen(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.spoiledAfterPops(20, 200, 400)
	l.open()
	if report := l.health.Report(); report.Parts["pop"].Reason == "" {
		t.Error("the damage is not told")
	}
	l.settle()
	again := len(l.pop(retry, 32, 1000))
	l.turn(60_000)
	if n := again + len(l.pop(retry, 32, 1000)); n < 20 || again == 0 {
		t.Errorf("%d of 20 came back, %d at once", n, again)
	}
	l.close()
}

// TestRecover_WhatCannotBeKnownIsTold: what was handed out first cannot be read, and nothing tells where that
// began.
func TestRecover_WhatCannotBeKnownIsTold(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	// The window is declared first; its cursor and the first pops follow.
	l.spoiledAfterPops(20, 64+7+8, 200)
	l.open()
	if reason := l.health.Report().Parts["pop"].Reason; !strings.Contains(reason, "of 1 queues it is not known") {
		t.Errorf("told: %q", reason)
	}
	l.close()
}

// TestRecover_WithoutAJournalGroupsGoOnWhereTheyWere: the consumer offsets tell.
func TestRecover_WithoutAJournalGroupsGoOnWhereTheyWere(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.open()
	l.send("T", 0, "a", "b", "c")
	l.pop(window, 2, 60_000)
	l.close()
	l.must(l.disk.Remove("pop"))
	l.open()
	if got := l.pop(window, 8, 1000); bodies(got) != "c" {
		t.Errorf("popped %q", bodies(got))
	}
	l.close()
}

// TestRecover_WhatIsDeletedStaysDeleted: a group that comes again begins anew.
func TestRecover_WhatIsDeletedStaysDeleted(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.open()
	l.send("T", 0, "a", "b", "c")
	l.pop(window, 2, 1000)
	l.service.DeleteGroup("G")
	l.offsets.DeleteGroup("G")
	l.close()
	l.open()
	l.turn(1000)
	if got := l.pop(retry, 8, 1000); len(got) > 0 {
		t.Errorf("%q came back", bodies(got))
	}
	if got := l.pop(window, 8, 1000); bodies(got) != "a b c" {
		t.Errorf("popped %q", bodies(got))
	}
	l.close()
}

// TestRecover_APopDuringADeletionLeavesNothing: who pops while the group is deleted is given nothing.
func TestRecover_APopDuringADeletionLeavesNothing(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.open()
	l.send("T", 0, "a")
	w, _, err := l.service.Acquire(window, func() int64 { return 0 })
	l.must(err)
	l.service.DeleteGroup("G")
	for _, order := range []bool{false, true} {
		p := pop.Pop{Offsets: []int64{0}, Next: 1, PopTime: startMs, InvisibleMs: 1000, Order: order}
		if _, err := w.Handed(&p, nil); err == nil {
			t.Error("a message of a deleted group is handed out")
		}
	}
	w.Release()
	l.close()
	l.open()
	if got := l.health.Report().Parts["pop"]; got.State != health.Up || got.Reason != "" {
		t.Errorf("pop is %+v after a restart", got)
	}
	l.close()
}

// TestHandBack_GroupsBeginAtTheFirstMessageInFlight: what is acknowledged before it does not come again.
func TestHandBack_GroupsBeginAtTheFirstMessageInFlight(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.open()
	l.send("T", 0, "a", "b", "c", "d")
	handles := l.pop(window, 3, 60_000)
	l.ack(handles[0])
	l.ack(handles[2])
	if queues, messages := l.service.HandBack(); queues != 1 || messages != 1 {
		t.Errorf("%d queues, %d messages", queues, messages)
	}
	if at := l.offsets.Query([]byte("G"), []byte("T"), 0); at != 1 {
		t.Errorf("the group begins at %d", at)
	}
	l.close()
}

// TestRecover_AKillBetweenTheClosingsRepeatsNothing: pops are closed, and the server is killed before it
// has saved the consumer offsets, or they cannot be saved.
func TestRecover_AKillBetweenTheClosingsRepeatsNothing(t *testing.T) {
	t.Parallel()
	for _, full := range []bool{false, true} {
		l := newLab(t)
		l.open()
		l.send("T", 0, "a", "b", "c")
		l.ack(l.pop(window, 1, 60_000)[0])
		l.must(l.offsets.Save())
		l.ack(l.pop(window, 1, 60_000)[0])
		l.unsaved.Store(full)
		if err := l.service.Close(); (err != nil) != full {
			t.Fatal(err)
		}
		left := l.disk.Killed()
		l.unsaved.Store(false)
		l.must(l.offsets.Close())
		l.must(l.store.Close())
		l.disk = left
		l.open()
		wantBodies(t, l.pop(window, 8, 1000), "c")
		l.close()
	}
}
