package cases

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// TestPop_InOrder sees a queue that is popped in order: it is blocked until everything that was handed
// out is acknowledged or visible again.
func TestPop_InOrder(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	suite.WithLead(t, 4*time.Second, func(invisible time.Duration) bool {
		topic, group := filled(t, c, 1, 6)
		p := wire.Pop{Group: group, Topic: topic, QueueID: wire.AnyQueue, MaxMsgNums: 3, Invisible: invisible, Order: true, AttemptID: "a1"}
		again, inTime := popInOrder(t, c, &p)
		return inTime && popBlocked(t, c, p, again)
	})
}

// popInOrder pops twice as one attempt, and as another that gets nothing; false when the messages were visible
// again meanwhile.
func popInOrder(t *testing.T, c *wire.Conn, p *wire.Pop) (again wire.Popped, inTime bool) {
	t.Helper()
	begin := time.Now()
	first, again := c.MustPop(t, *p), c.MustPop(t, *p)
	p.AttemptID = "a2"
	blocked := c.MustPop(t, *p)
	if time.Since(begin) >= p.Invisible {
		return again, false
	}
	wantPopped(t, "first", first, "0", "1", "2")
	if first.ReviveQid != 999 || first.Ext["orderCountInfo"] != "0 0 0" || first.RestNum != 3 {
		t.Errorf("first: %v", first.Frame)
	}
	wantPopped(t, "the same attempt", again, "0", "1", "2")
	if again.Ext["orderCountInfo"] != "0 0 0" {
		t.Errorf("the same attempt: %v", again.Frame)
	}
	wantPopped(t, "another attempt", blocked)
	if blocked.RestNum != 0 {
		t.Errorf("another attempt: %v", blocked.Frame)
	}
	wantCode(t, "ack of the first", c.Ack(t, again.Messages[0]), wire.Success)
	left := c.MustPop(t, *p)
	if time.Since(begin) >= p.Invisible {
		return again, false
	}
	wantPopped(t, "two are left", left)
	return again, true
}

// popBlocked sees two messages become visible again in their time, without the one that is acknowledged, and
// the last acknowledgement unblock who waits; false when they were visible once more meanwhile.
func popBlocked(t *testing.T, c *wire.Conn, p wire.Pop, again wire.Popped) (inTime bool) {
	t.Helper()
	if at := c.QueryOffset(t, p.Group, p.Topic, 0, nil); at.Ext["offset"] != "1" {
		t.Errorf("the group is at %v, want 1", at)
	}
	p.Poll = slow
	back := c.MustPop(t, p)
	wantPopped(t, "visible again", back, "1", "2", "3")
	if back.Ext["orderCountInfo"] != "0 qo0%1 1;0 qo0%2 1;0 0 0" {
		t.Errorf("visible again: %v", back.Frame)
	}
	if late, want := back.PopTime-again.PopTime, p.Invisible.Milliseconds(); late < want {
		t.Errorf("visible again after %d ms, want %d at least", late, want)
	}
	waits := waitsInOrder(t, p, "a3")
	for _, m := range back.Messages {
		wantCode(t, "ack", c.Ack(t, m), wire.Success)
	}
	acked := time.Since(time.UnixMilli(back.PopTime))
	next := <-waits
	if acked >= p.Invisible-time.Second {
		return false
	}
	if next.err != nil {
		t.Fatal(next.err)
	}
	wantPopped(t, "next", next.got, "4", "5")
	if changed := c.ChangeInvisible(t, &next.got.Messages[0], time.Second); changed.Ext["popTime"] != strconv.FormatInt(next.got.PopTime, 10) ||
		changed.Int64(t, "invisibleTime") < 1000 {
		t.Errorf("change in order: %v", changed)
	}
	wantCode(t, "ack of the rest", c.BatchAck(t, p.Topic, next.got.Messages...), wire.Success)
	return true
}

type popAnswer struct {
	got wire.Popped
	err error
}

// waitsInOrder has another attempt pop and wait.
func waitsInOrder(t *testing.T, p wire.Pop, attempt string) <-chan popAnswer {
	t.Helper()
	waits, other := make(chan popAnswer, 1), dialBroker(t)
	p.AttemptID = attempt
	go func() {
		ctx, cancel := context.WithTimeout(t.Context(), p.Poll+wire.Timeout)
		defer cancel()
		got, err := other.Pop(ctx, p)
		waits <- popAnswer{got, err}
	}()
	return waits
}

// TestPop_WithoutOrderBesideOrder has one consumer of a group pop in order and another one without: the
// real broker gives it what the first has not acknowledged.
func TestPop_WithoutOrderBesideOrder(t *testing.T) {
	t.Parallel()
	got := besideOrder(t, dialBroker(t))
	suite.Differs(t, "cases/pop-beside-order", got == "0, [], 0, 0, 1, 0, 2, [2 3], 4", got)
}

// besideOrder tells where the group is after a pop in order, what a pop without order gets, what the
// acknowledgements of the first do, and what is left.
func besideOrder(t *testing.T, c *wire.Conn) string {
	t.Helper()
	topic, group := filled(t, c, 1, 4)
	inOrder := wire.Pop{Group: group, Topic: topic, QueueID: wire.AnyQueue, MaxMsgNums: 2, Invisible: time.Minute, Order: true, AttemptID: "a1"}
	plain := wire.Pop{Group: group, Topic: topic, QueueID: wire.AnyQueue, MaxMsgNums: 3, Invisible: time.Minute}
	at := func() string { return c.QueryOffset(t, group, topic, 0, nil).Ext["offset"] }
	first := c.MustPop(t, inOrder)
	wantPopped(t, "in order", first, "0", "1")
	told := []string{at()}
	told = append(told, fmt.Sprint(popped(c.MustPop(t, plain))), at())
	for _, m := range first.Messages {
		told = append(told, fmt.Sprint(c.Ack(t, m).Code), at())
	}
	told = append(told, fmt.Sprint(popped(c.MustPop(t, plain))), at())
	return strings.Join(told, ", ")
}
