package timer_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/broker/timer"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
)

// heldUp is a door at which the driver waits while it is shut.
type heldUp struct {
	timer.Appender
	shut    *atomic.Bool
	waiting chan struct{}
	open    chan struct{}
}

func (h heldUp) Collect(g *store.Group, rec *message.Record, origin appender.Origin) (bool, error) {
	if h.shut.CompareAndSwap(true, false) {
		close(h.waiting)
		<-h.open
	}
	return h.Appender.Collect(g, rec, origin)
}

// TestService_FiguresOfADriverThatIsHeldUp asks for everything that metrics, health and runtime info
// show while the driver holds the service.
func TestService_FiguresOfADriverThatIsHeldUp(t *testing.T) {
	t.Parallel()
	l := newLabIn(t)
	registry := prometheus.NewRegistry()
	door := heldUp{shut: new(atomic.Bool), waiting: make(chan struct{}), open: make(chan struct{})}
	l.metrics, l.inOrder, l.saveMs = registry, false, 1_000_000
	l.door = func(a timer.Appender) timer.Appender {
		door.Appender = a
		return door
	}
	l.open()
	release := sync.OnceFunc(func() { close(door.open) })
	defer l.close()
	defer release()
	l.send("T", "a", delay(1000))
	l.send("T", "b", delay(100*hour))
	l.settle()
	if got := figures(t, registry)["rocketmq_timing_messages T"]; got != 2 {
		t.Fatalf("%v messages pend, want 2", got)
	}
	door.shut.Store(true)
	l.clock.Set(startMs + 1000)
	<-door.waiting
	for range 20 {
		got := figures(t, registry)
		if got["rocketmq_timing_messages T"] != 2 || got["wheelmq_timer_far_entries"] != 1 || got["rocketmq_timer_enqueue_lag"] != 0 {
			t.Fatalf("while the driver is held up metrics are %v", got)
		}
		if r := l.health.Report(); len(r.Parts) == 0 {
			t.Fatal("no health")
		}
		if p := l.service.Progress(); p.Pending != 2 || p.QueueOffset != 2 {
			t.Fatalf("while the driver is held up progress is %+v", p)
		}
		if n := l.service.PendingOf()["T"].Messages; n != 2 {
			t.Fatalf("while the driver is held up %d messages pend, want 2", n)
		}
	}
	release()
	l.settle()
	if got := figures(t, registry)["rocketmq_timing_messages T"]; got != 1 {
		t.Errorf("%v messages pend, want 1", got)
	}
}
