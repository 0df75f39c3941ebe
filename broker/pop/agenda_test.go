package pop_test

import (
	"fmt"
	"testing"

	"github.com/wheelmq/wheelmq/broker/pop"
	"github.com/wheelmq/wheelmq/internal/await"
)

// TestAgenda_ChangesLeaveNothingBehind changes invisible times again and again, to earlier ones and to the
// same one, for years: what the driver has to look at does not grow with that.
func TestAgenda_ChangesLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	const years, changes = int64(1) << 39, int64(3 * pop.SweepFrom)
	for name, order := range map[string]bool{"in order": true, "in any order": false} {
		for step := range int64(2) {
			l := opened(t)
			l.send("T", 0, "a", "b")
			h := l.popAs(window, 2, years, order, "")[0]
			for i := range changes {
				var ok bool
				if h, ok = l.change(h, years-i*step); !ok {
					t.Fatal("the handle is stale")
				}
			}
			await.Until(t, fmt.Sprintf("%s, step %d: few tasks for two messages", name, step), func() bool {
				l.settle()
				return l.service.Agenda() < pop.SweepFrom
			})
			if next := l.settle(); next != startMs+years-(changes-1)*step && !order {
				t.Errorf("%s, step %d: the next message is visible at %d", name, step, next-startMs)
			}
		}
	}
}

// TestAgenda_WhatBlockedLongestIsAcknowledged: the queue is told to be visible when the rest is.
func TestAgenda_WhatBlockedLongestIsAcknowledged(t *testing.T) {
	t.Parallel()
	l := opened(t)
	l.send("T", 0, "a", "b")
	handles := l.popAs(window, 2, 60_000, true, "")
	if _, ok := l.change(handles[1], 10); !ok || !l.ack(handles[0]) {
		t.Fatal("a handle is stale")
	}
	l.turn(10)
	if told := l.visible.Load(); told != 1 {
		t.Errorf("told %d times", told)
	}
	wantBodies(t, l.popAs(window, 2, 1000, true, ""), "b")
}
