package schedule_test

import (
	"sync/atomic"
	"testing"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/health"
)

// brake is a Stall that the test holds.
type brake struct {
	on       atomic.Bool
	withheld atomic.Int64
}

func (b *brake) Stalled() string {
	if b.on.Load() {
		return "by a test"
	}
	return ""
}

func (b *brake) Withheld() { b.withheld.Add(1) }

// While the scheduler is stalled nothing is delivered, everybody can see it, and what became due
// meanwhile is delivered when the stall ends.
func TestService_Stall(t *testing.T) {
	t.Parallel()
	for name, inOrder := range map[string]bool{"levels in turn": false, "in order": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, b := newLabIn(t, t.TempDir()), &brake{}
			l.stall, l.inOrder = b, inOrder
			l.open()
			defer l.close()
			l.send("T", 1)
			l.send("T", 2)
			b.on.Store(true)
			l.service.Recheck()
			if next := l.settle(); next != startMs+1000 || b.withheld.Load() != 0 {
				t.Fatalf("next %d, withheld %d", next-startMs, b.withheld.Load())
			}
			l.clock.Set(startMs + 1000)
			l.await("withheld", func() bool { return b.withheld.Load() == 1 })
			if next := l.settle(); next != startMs+3000 || l.count("T") != 0 {
				t.Fatalf("next %d, delivered %d", next-startMs, l.count("T"))
			}
			if got := l.health.Report().Parts["schedule"]; got.State != health.Down || got.Reason != "due messages are withheld by a test: they are delivered when it is removed" {
				t.Errorf("health %+v", got)
			}
			l.clock.Set(startMs + 5000)
			l.settle()
			b.on.Store(false)
			l.service.Recheck()
			l.await("delivery", func() bool { return l.count("T") == 2 })
			if got := l.health.Report().Parts["schedule"]; got.State != health.Up {
				t.Errorf("health %+v", got)
			}
			if began, ended := l.says(logrus.ErrorLevel, "are withheld"), l.says(logrus.InfoLevel, "delivered again"); began != 1 || ended != 1 {
				t.Errorf("said %d times that it begins, %d times that it ends", began, ended)
			}
		})
	}
}
