package timer_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
)

// TestService_DeletedTopicDelaysNobody has messages due for a topic whose deletion has come to a stop on
// the disk, and for others: those are delivered meanwhile, and what is for the topic afterwards, in order.
func TestService_DeletedTopicDelaysNobody(t *testing.T) {
	t.Parallel()
	for _, inOrder := range []bool{false, true} {
		t.Run(fmt.Sprintf("in order %v", inOrder), func(t *testing.T) {
			t.Parallel()
			l := newLabIn(t)
			l.inOrder = inOrder
			l.flushMs, l.saveMs = 1<<40, 1<<40 // nothing but the deletion writes
			stops, stopped, goOn := new(atomic.Bool), make(chan struct{}), make(chan struct{})
			l.disk.OnSync(func() {
				if stops.CompareAndSwap(true, false) {
					close(stopped)
					<-goOn
				}
			})
			l.open()
			defer func() { l.close() }()
			l.send("Leaves", "before")
			var want strings.Builder
			for i := range 300 {
				l.send("Leaves", fmt.Sprint(i), delay(1000))
				l.send("Stays", fmt.Sprint(i), delay(1000))
				fmt.Fprintf(&want, "%d+", i)
			}
			l.send("Leaves", "last", delay(1500))
			l.send("Stays", "last", delay(1500))
			l.settle()
			stops.Store(true)
			deleted := make(chan error, 1)
			go func() { deleted <- l.store.DeleteTopic("Leaves") }()
			<-stopped
			for _, ms := range []int64{1000, 1100, 1500} {
				l.clock.Set(startMs + ms)
				l.settle()
			}
			if n := l.count("Stays"); n != 301 {
				t.Errorf("meanwhile %d messages are delivered", n)
			}
			close(goOn)
			if err := <-deleted; err != nil {
				t.Fatal(err)
			}
			for next := l.settle(); l.count("Leaves") < 301 && next < startMs+60_000; next = l.settle() {
				l.clock.Set(next)
			}
			for name, at := range map[string]string{"Leaves": "", "Stays": "1000 "} {
				var got strings.Builder
				for _, d := range l.read(name) {
					if d.body != "last" {
						fmt.Fprintf(&got, "%s+", d.body)
					}
				}
				if got.String() != want.String() || !strings.Contains(l.bodies(name), "last+") || !strings.Contains(l.bodies(name), "299+"+at) {
					t.Errorf("%s: %s", name, l.bodies(name))
				}
			}
		})
	}
}
