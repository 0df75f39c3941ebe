package interchange

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

const (
	popTopic   = "Parcels"
	orderTopic = "Steps"
	popGroup   = "Carriers"
	// invisible is longer than it takes until the other server has the store.
	invisible = 25 * time.Second
)

// popped pops messages until so many are there, and returns them by body.
func popped(t *testing.T, c *wire.Conn, n int, p wire.Pop) map[string]wire.PoppedMessage {
	t.Helper()
	all := make(map[string]wire.PoppedMessage)
	suite.Eventually(t, limit, fmt.Sprintf("%d messages are popped", n), func() bool {
		got := c.MustPop(t, p)
		for _, m := range got.Messages {
			if _, twice := all[string(m.Body)]; twice {
				t.Errorf("%q is popped twice", m.Body)
			}
			all[string(m.Body)] = m
		}
		if len(got.Messages) == 0 {
			time.Sleep(100 * time.Millisecond)
		}
		return len(all) >= n
	})
	return all
}

// fly pops a hundred messages, acknowledges forty of them, and returns the bodies of the others.
func (w *writer) fly(t *testing.T) (left []string) {
	t.Helper()
	w.c.MustCreateTopic(t, popTopic, 2)
	for i := range 100 {
		w.c.MustSend(t, wire.Send{Topic: popTopic, QueueID: i % 2, Body: fmt.Appendf(nil, "parcel %d", i),
			Properties: wire.Properties("UNIQ_KEY", fmt.Sprintf("%032X", i))})
	}
	wire.Introduce(t, w.server.BrokerAddr, popGroup, popTopic)
	all := popped(t, w.c, 100, wire.Pop{Group: popGroup, Topic: popTopic, QueueID: wire.AnyQueue, Invisible: invisible, MaxMsgNums: 30})
	for i := range 100 {
		body := fmt.Sprintf("parcel %d", i)
		if i%5 > 1 {
			left = append(left, body)
			continue
		}
		if answer := w.c.Ack(t, all[body]); answer.Code != wire.Success {
			t.Errorf("ack: %v", answer)
		}
	}
	slices.Sort(left)
	return left
}

// wantBack waits until what was not acknowledged can be popped, and fails the test when anything else
// can.
func (w *writer) wantBack(t *testing.T, want []string) {
	t.Helper()
	wire.Introduce(t, w.server.BrokerAddr, popGroup, popTopic)
	p := wire.Pop{Group: popGroup, Topic: popTopic, QueueID: wire.AnyQueue, Invisible: 5 * time.Minute}
	got := make([]string, 0, len(want))
	for body, m := range popped(t, w.c, len(want), p) {
		got = append(got, body)
		if m.ReconsumeTimes != 1 {
			t.Errorf("%q is consumed again for the time %d", body, m.ReconsumeTimes)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("popped %q, want %q", got, want)
	}
	// What comes twice comes soon.
	for end := time.Now().Add(8 * time.Second); time.Now().Before(end); time.Sleep(500 * time.Millisecond) {
		for _, m := range w.c.MustPop(t, p).Messages {
			t.Errorf("%q is popped again", m.Body)
		}
	}
}

// block pops three of five messages in order and acknowledges the first.
func (w *writer) block(t *testing.T) {
	t.Helper()
	w.c.MustCreateTopic(t, orderTopic, 1)
	wire.Introduce(t, w.server.BrokerAddr, popGroup, orderTopic)
	for i := range 5 {
		w.c.MustSend(t, wire.Send{Topic: orderTopic, Body: fmt.Appendf(nil, "step %d", i), Properties: wire.Properties("UNIQ_KEY", fmt.Sprintf("%032X", i))})
	}
	w.c.Settle(t, orderTopic, 0, 5)
	got := w.c.MustPop(t, inOrder("a1"))
	if len(got.Messages) != 3 {
		t.Fatalf("popped %v, want three in order", got.Frame)
	}
	if answer := w.c.Ack(t, got.Messages[0]); answer.Code != wire.Success {
		t.Errorf("ack: %v", answer)
	}
}

func inOrder(attempt string) wire.Pop {
	return wire.Pop{Group: popGroup, Topic: orderTopic, QueueID: wire.AnyQueue, MaxMsgNums: 3, Invisible: 2 * time.Minute, Order: true, AttemptID: attempt}
}

// wantBlocked lets the attempt that the block is of have it again, with its handles, and no other.
func (w *writer) wantBlocked(t *testing.T) {
	t.Helper()
	wire.Introduce(t, w.server.BrokerAddr, popGroup, orderTopic)
	if got := w.c.MustPop(t, inOrder("a2")); len(got.Messages) > 0 {
		t.Errorf("another attempt pops %v", got.Frame)
	}
	got := w.c.MustPop(t, inOrder("a1"))
	if len(got.Messages) != 3 || string(got.Messages[0].Body) != "step 1" {
		t.Errorf("the same attempt pops %v", got.Frame)
	}
	if again := w.c.MustPop(t, inOrder("a2")); len(again.Messages) > 0 {
		t.Errorf("another attempt pops %v", again.Frame)
	}
}

// TestPops_ToTheRealBroker: what was in flight comes back from the copy, and nothing else.
func TestPops_ToTheRealBroker(t *testing.T) {
	peer.RequireJava(t)
	t.Parallel()
	dir, copied := peer.HomeDir(t), peer.HomeDir(t)
	w := newWriter(t, peer.StartIn(t, peer.Ours, dir, configuration()))
	w.block(t)
	left := w.fly(t)
	w.server.Stop()
	out, errs, code := command(t, "store", "export", "--broker-name", "broker-a", "--to", filepath.Join(copied, "store"), w.server.StoreDir)
	if code != 0 {
		t.Fatalf("store export: exit code %d\n%s%s", code, out, errs)
	}
	wantSound(t, filepath.Join(copied, "store"))
	r := newWriter(t, peer.StartIn(t, peer.Real, copied, configuration()))
	r.wantBlocked(t)
	r.wantBack(t, left)
}

// TestPops_FromTheRealBroker: so does what the real broker had in flight, after a stop.
func TestPops_FromTheRealBroker(t *testing.T) {
	peer.RequireJava(t)
	t.Parallel()
	dir := peer.HomeDir(t)
	w := newWriter(t, peer.StartIn(t, peer.Real, dir, configuration()))
	w.block(t)
	left := w.fly(t)
	time.Sleep(3 * time.Second) // until its timers have the checkpoints
	w.server.Stop()
	r := newWriter(t, peer.StartIn(t, peer.Ours, dir, configuration()))
	r.wantBlocked(t)
	r.wantBack(t, left)
}
