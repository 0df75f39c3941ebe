package timer_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/clock"
)

// newWalledLab has a clock with a wall of its own, that begins where message time does.
func newWalledLab(t *testing.T) *lab {
	l := newLabIn(t)
	l.inOrder = false
	l.wall = &walled{Virtual: l.clock}
	l.open()
	return l
}

var _ clock.Clock = (*walled)(nil)

// TestService_StepsOfTheWall has relative delays keep their length and absolute instants follow the
// wall, over restarts too.
func TestService_StepsOfTheWall(t *testing.T) {
	t.Parallel()
	for _, step := range []time.Duration{time.Minute, -time.Minute, 24 * time.Hour, -24 * time.Hour} {
		for _, restart := range []bool{false, true} {
			t.Run(fmt.Sprintf("step %v, restart %v", step, restart), func(t *testing.T) {
				t.Parallel()
				l := newWalledLab(t)
				defer func() { l.close() }()
				l.send("Before", "relative", delay(10_000))
				l.send("Absolute", "before", at(startMs+10_000))
				l.send("Absolute", "far", at(startMs+3_000_000))
				l.turn(startMs + 3000)
				l.wall.ahead.Store(step.Milliseconds())
				l.turn(startMs + 3600)
				if restart {
					l.close()
					l.open()
				}
				l.send("After", "relative", delay(10_000))
				l.turn(startMs + 4000)
				// An instant a second ahead of what the wall reads now.
				l.send("Absolute", "after", at(startMs+5000+step.Milliseconds()))
				l.turn(startMs + 4999)
				if n := l.count("Absolute"); step < 0 && n > 0 || step > 0 && n < 1 {
					t.Errorf("a second early %s", l.bodies("Absolute"))
				}
				l.turn(startMs + 5000)
				l.turn(startMs + 9999)
				if n := l.count("Before"); n != 0 {
					t.Error("a delay became shorter")
				}
				l.turn(startMs + 10_000)
				l.turn(startMs + 13_599)
				if n := l.count("After"); n != 0 {
					t.Error("a delay after the step became shorter")
				}
				l.turn(startMs + 13_600)
				if l.count("Before") != 1 || l.count("After") != 1 {
					t.Error("a delay became longer")
				}
				if step < 0 {
					if got := l.bodies("Absolute"); got != "after+5000 " {
						t.Errorf("after the step back %s", got)
					}
					l.turn(startMs + 9999 - step.Milliseconds())
					if n := l.count("Absolute"); n != 1 {
						t.Errorf("early after the step back: %s", l.bodies("Absolute"))
					}
					l.turn(startMs + 10_000 - step.Milliseconds())
				}
				l.turn(startMs + 3_000_000 + max(0, -step.Milliseconds()))
				if n := l.count("Absolute"); n != 3 {
					t.Errorf("absolute instants: %s", l.bodies("Absolute"))
				}
			})
		}
	}
}

// turn sets message time, lets the service look, and waits for what is due.
func (l *lab) turn(at int64) {
	l.t.Helper()
	l.clock.Set(at)
	l.settle()
}
