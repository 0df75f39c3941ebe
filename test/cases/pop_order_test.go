package cases

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/wire"
)

// TestPop_InOrder sees a queue that is popped in order: it is blocked until everything that was handed
// out is acknowledged or visible again.
func TestPop_InOrder(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic, group := filled(t, c, 1, 6)
	p := wire.Pop{Group: group, Topic: topic, QueueID: wire.AnyQueue, MaxMsgNums: 3, Invisible: 4 * time.Second, Order: true, AttemptID: "a1"}
	first := c.MustPop(t, p)
	wantPopped(t, "first", first, "0", "1", "2")
	if first.ReviveQid != 999 || first.Ext["orderCountInfo"] != "0 0 0" || first.RestNum != 3 {
		t.Errorf("first: %v", first.Frame)
	}
	again := c.MustPop(t, p)
	wantPopped(t, "the same attempt", again, "0", "1", "2")
	if again.Ext["orderCountInfo"] != "0 0 0" {
		t.Errorf("the same attempt: %v", again.Frame)
	}
	p.AttemptID = "a2"
	blocked := c.MustPop(t, p)
	wantPopped(t, "another attempt", blocked)
	if blocked.RestNum != 0 {
		t.Errorf("another attempt: %v", blocked.Frame)
	}
	wantCode(t, "ack of the first", c.Ack(t, again.Messages[0]), wire.Success)
	wantPopped(t, "two are left", c.MustPop(t, p))
	if at := c.QueryOffset(t, group, topic, 0, nil); at.Ext["offset"] != "1" {
		t.Errorf("the group is at %v, want 1", at)
	}
	// They are visible again in their time; the one that is acknowledged is not among them.
	p.Poll = 10 * time.Second
	back := c.MustPop(t, p)
	wantPopped(t, "visible again", back, "1", "2", "3")
	if back.Ext["orderCountInfo"] != "0 qo0%1 1;0 qo0%2 1;0 0 0" {
		t.Errorf("visible again: %v", back.Frame)
	}
	if late := back.PopTime - again.PopTime; late < 4000 {
		t.Errorf("visible again after %d ms, want 4000 at least", late)
	}
	// The last acknowledgement unblocks who waits.
	type answer struct {
		got wire.Popped
		err error
	}
	waits := make(chan answer, 1)
	other := dialBroker(t)
	p.AttemptID = "a3"
	go func() {
		ctx, cancel := context.WithTimeout(t.Context(), p.Poll+wire.Timeout)
		defer cancel()
		got, err := other.Pop(ctx, p)
		waits <- answer{got, err}
	}()
	for _, m := range back.Messages {
		wantCode(t, "ack", c.Ack(t, m), wire.Success)
	}
	next := <-waits
	if next.err != nil {
		t.Fatal(next.err)
	}
	wantPopped(t, "next", next.got, "4", "5")
	if changed := c.ChangeInvisible(t, &next.got.Messages[0], time.Second); changed.Ext["popTime"] != strconv.FormatInt(next.got.PopTime, 10) ||
		changed.Int64(t, "invisibleTime") < 1000 {
		t.Errorf("change in order: %v", changed)
	}
	wantCode(t, "ack of the rest", c.BatchAck(t, topic, next.got.Messages...), wire.Success)
}
