package timer_test

import (
	"fmt"
	"testing"
)

// TestService_IdlePinsNothing: after the last message of the last second nothing wakes the driver but
// the end of that second.
func TestService_IdlePinsNothing(t *testing.T) {
	t.Parallel()
	l := newLabIn(t)
	l.inOrder = false
	l.open()
	defer l.close()
	l.send("T", "a", delay(1500))
	l.await("the message to pend", func() bool { _, pending := l.service.Pinned(); return pending })
	l.clock.Set(startMs + 1500)
	l.await("the delivery", func() bool { return l.count("T") == 1 && l.service.Delivered() == 1 })
	l.clock.Set(startMs + 60_000)
	l.await("letting go of the log", func() bool { _, pending := l.service.Pinned(); return !pending })
}

// TestService_KeepsTheCopiesThatItNeeds has one target refuse for longer than the log is kept: what
// was delivered beside it must be recognised by the next start.
func TestService_KeepsTheCopiesThatItNeeds(t *testing.T) {
	t.Parallel()
	l := newLabIn(t)
	l.file, l.pin, l.flushMs, l.saveMs = 256<<10, true, 1_000_000, 1_000_000
	l.open()
	for i := range 5 {
		l.send("T", fmt.Sprint(i), delay(5*3_600_000))
	}
	l.send("Busy", "x", delay(5*3_600_000))
	l.settle()
	l.fill(1 << 20)
	busy := "Busy"
	l.refuse.Store(&busy)
	l.clock.Set(startMs + 4*3_600_000)
	l.settle()
	l.clock.Set(startMs + 5*3_600_000)
	l.await("the deliveries", func() bool { return l.count("T") == 5 })
	if err := l.service.Save(); err != nil {
		t.Fatal(err)
	}
	l.fill(1 << 20)
	if err := l.service.Save(); err != nil {
		t.Fatal(err)
	}
	l.forget(1 << 20)
	was := l.count("T")
	l.close()
	l.refuse.Store(nil)
	l.open()
	defer l.close()
	l.clock.Set(startMs + 6*3_600_000)
	l.settle()
	l.await("the other topic", func() bool { return l.count("Busy") == 1 })
	if n := l.count("T"); n != was {
		t.Errorf("%d messages, then %d after a start", was, n)
	}
}
