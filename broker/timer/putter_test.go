package timer_test

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"testing"

	"github.com/wheelmq/wheelmq/broker/redeliver"
	"github.com/wheelmq/wheelmq/broker/timer"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
)

// shaky is a door that refuses every third group.
type shaky struct {
	timer.Appender
	groups *atomic.Int64
}

func (s shaky) PutGroup(g *store.Group, done store.Completion) (stored int, pending bool, err error) {
	if s.groups.Add(1)%3 == 0 {
		return 0, false, errors.New("busy")
	}
	return s.Appender.PutGroup(g, done)
}

// TestService_ManyGroups has more messages due at an instant than go into a group, and groups refused
// while the next one is made: each comes once, in the order of arrival.
func TestService_ManyGroups(t *testing.T) {
	t.Parallel()
	for _, synced := range []bool{false, true} {
		for _, inOrder := range []bool{false, true} {
			t.Run(fmt.Sprintf("synced %v, in order %v", synced, inOrder), func(t *testing.T) {
				t.Parallel()
				manyGroups(t, synced, inOrder)
			})
		}
	}
}

func manyGroups(t *testing.T, synced, inOrder bool) {
	l := newLabIn(t)
	l.sync, l.inOrder = synced, inOrder
	groups := new(atomic.Int64)
	l.door = func(a timer.Appender) timer.Appender { return shaky{a, groups} }
	l.open()
	defer func() { l.close() }()
	l.pend(1000, func(int) int64 { return 1000 })
	l.send("U", "x", delay(1500))
	l.settle()
	l.clock.Set(startMs + 1000)
	for next := l.settle(); next < math.MaxInt64; next = l.settle() {
		l.clock.Set(next)
	}
	last := int64(-1)
	for _, d := range l.read("T") {
		props := message.PropertyAppend(nil, message.PropertySource, d.source)
		root, ok := redeliver.SourceOf(props, l.store.Epoch())
		if !ok || root <= last {
			t.Fatalf("%q comes behind %d", d.source, last)
		}
		last = root
	}
	if n := l.count("T"); n != 1000 || l.count("U") != 1 || groups.Load() < 8 {
		t.Errorf("%d and %d messages in %d groups", n, l.count("U"), groups.Load())
	}
}
