package pop_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wheelmq/wheelmq/broker/pop"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/message"
)

var (
	window = pop.Key{Group: "G", Topic: "T"}
	retry  = pop.Key{Group: "G", Topic: "%RETRY%G_T"}
	dead   = pop.Key{Group: "tools", Topic: "%DLQ%G"}
)

func bodies(handles []handle) string {
	var all []string
	for _, h := range handles {
		all = append(all, h.body)
	}
	return strings.Join(all, " ")
}

func wantBodies(t *testing.T, got []handle, want string) {
	t.Helper()
	if b := bodies(got); b != want {
		t.Fatalf("popped %q, want %q", b, want)
	}
}

func TestPop_WhatIsNotAcknowledgedComesBackAtItsMillisecond(t *testing.T) {
	t.Parallel()
	l := opened(t)
	l.send("T", 0, "a", "b", "c")
	handles := l.pop(window, 2, 5000)
	wantBodies(t, handles, "a b")
	if !l.ack(handles[0]) || l.ack(handles[0]) {
		t.Fatal("the first acknowledgement has no effect, or the second one has")
	}
	if next := l.settle(); next != startMs+5000 {
		t.Fatalf("the next message is visible at %d", next-startMs)
	}
	l.turn(4999)
	wantBodies(t, l.pop(retry, 32, 1000), "")
	l.turn(1)
	back := l.pop(retry, 32, 1000)
	wantBodies(t, back, "b")
	for name, want := range map[string]string{
		message.PropertyFirstPopTime: "1800000000000", message.PropertyRetryTopic: "T", message.PropertyOriginGroup: "G", message.PropertyTags: "A",
	} {
		if got, _ := message.PropertyGet([]byte(back[0].props), name); string(got) != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if back[0].times != 1 || l.ack(handles[1]) {
		t.Errorf("it was consumed %d times, or a late acknowledgement has an effect", back[0].times)
	}
	wantBodies(t, l.pop(window, 32, 1000), "c")
	if got := l.offsets.Query([]byte("G"), []byte("T"), 0); got != 3 {
		t.Errorf("the group's offset is %d", got)
	}
}

// TestPop_MoreThanABatchComesBackOnce: what a dead consumer held does not fit into one batch, whose end lies
// within one pop.
func TestPop_MoreThanABatchComesBackOnce(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.sync = true
	l.open()
	t.Cleanup(l.close)
	const total = pop.BatchSize + 100
	l.send("T", 0, strings.Fields(strings.Repeat("x ", total))...)
	for popped := 0; popped < total; popped += 300 {
		l.pop(window, 300, 5000)
	}
	l.turn(5000)
	if n := l.end("%RETRY%G_T", 0); n != total {
		t.Errorf("%d messages came back, want %d", n, total)
	}
	if next := l.settle(); next != clock.Never {
		t.Errorf("there is something to do at %d", next)
	}
}

func TestPop_AfterItsRetriesAMessageIsDead(t *testing.T) {
	t.Parallel()
	l := opened(t)
	l.send("T", 0, "a")
	for k, times := window, int32(0); times <= 16; k, times = retry, times+1 {
		handles := l.pop(k, 1, 1000)
		wantBodies(t, handles, "a")
		if handles[0].times != times {
			t.Fatalf("popped after %d times, want %d", handles[0].times, times)
		}
		l.turn(1000)
	}
	wantBodies(t, l.pop(retry, 1, 1000), "")
	wantBodies(t, l.pop(dead, 1, 1000), "a")
}

func TestPop_AChangedMessageHasANewHandle(t *testing.T) {
	t.Parallel()
	l := opened(t)
	l.send("T", 0, "a", "b")
	handles := l.pop(window, 2, 5000)
	l.turn(1)
	later, ok := l.change(handles[0], 60_000)
	if !ok || later.popTime != startMs+1 || l.ack(handles[0]) {
		t.Fatalf("changed: %v, %+v; or the old handle is valid", ok, later)
	}
	if _, ok := l.change(handles[0], 1); ok {
		t.Fatal("the old handle changes it again")
	}
	if _, ok := l.change(handles[1], 0); !ok {
		t.Fatal("the second one is not changed")
	}
	l.settle()
	wantBodies(t, l.pop(retry, 32, 1000), "b")
	l.turn(59_999)
	wantBodies(t, l.pop(retry, 32, 1_000_000), "b") // of the retry topic, for the second time
	l.turn(1)
	wantBodies(t, l.pop(retry, 32, 1000), "a")
}

func TestPop_InOrderAQueueIsBlockedUntilAllIsAcknowledged(t *testing.T) {
	t.Parallel()
	l := opened(t)
	l.send("T", 0, "a", "b", "c", "d")
	handles := l.popAs(window, 2, 5000, true, "one")
	wantBodies(t, handles, "a b")
	wantBodies(t, l.popAs(window, 2, 5000, true, "two"), "")
	handles = l.popAs(window, 2, 5000, true, "one")
	wantBodies(t, handles, "a b")
	if !l.ack(handles[0]) {
		t.Fatal("the first is not acknowledged")
	}
	wantBodies(t, l.popAs(window, 2, 5000, true, "two"), "")
	l.turn(5000)
	if l.visible.Load() != 1 {
		t.Errorf("told %d times", l.visible.Load())
	}
	handles = l.popAs(window, 2, 5000, true, "two")
	wantBodies(t, handles, "b c")
	if handles[0].times != 1 || handles[1].times != 0 {
		t.Errorf("popped after %d and %d times", handles[0].times, handles[1].times)
	}
	if l.ack(handles[1]); l.offsets.Query([]byte("G"), []byte("T"), 0) != 1 {
		t.Error("the offset passes an open message")
	}
	if l.ack(handles[0]); l.offsets.Query([]byte("G"), []byte("T"), 0) != 3 || l.visible.Load() != 2 {
		t.Error("all is acknowledged, and the queue is blocked")
	}
	wantBodies(t, l.popAs(window, 2, 5000, true, "three"), "d")
}

func TestPop_FollowsAReset(t *testing.T) {
	t.Parallel()
	l := opened(t)
	l.send("T", 0, "a", "b", "c")
	first := l.pop(window, 3, 5000)
	l.offsets.Reset("G", "T", 0, 1)
	l.turn(1)
	again := l.pop(window, 32, 5000)
	wantBodies(t, again, "b c")
	if l.ack(first[1]) || !l.ack(again[0]) || !l.ack(again[1]) {
		t.Error("what was popped again has an old handle")
	}
	l.offsets.Commit([]byte("G"), []byte("T"), 0, 2)
	wantBodies(t, l.pop(window, 32, 5000), "c")
	l.turn(5001)
	wantBodies(t, l.pop(retry, 32, 5000), "a c")
}

func TestPop_ARefusedCopyIsTriedAgain(t *testing.T) {
	t.Parallel()
	l := opened(t)
	l.send("T", 0, "a")
	l.pop(window, 1, 100)
	l.refuse.Store(true)
	l.turn(100)
	if r := l.health.Report(); r.State != health.Degraded {
		t.Errorf("health: %+v", r)
	}
	l.refuse.Store(false)
	l.turn(99)
	wantBodies(t, l.pop(retry, 1, 100), "")
	l.turn(1)
	wantBodies(t, l.pop(retry, 1, 100), "a")
}

// TestPop_NothingComesBackOfADeletedTopic: it is deleted while its messages are on their way to the retry topic,
// which goes behind it and is not made anew.
func TestPop_NothingComesBackOfADeletedTopic(t *testing.T) {
	t.Parallel()
	for after := range int64(20) {
		l := newLab(t)
		l.open()
		for range 40 {
			l.send("T", 0, "a")
		}
		l.pop(window, 40, 1000)
		var puts atomic.Int64
		on := make(chan struct{})
		hook := func() {
			if puts.Add(1) == after+1 {
				close(on)
			}
		}
		l.afterPut.Store(&hook)
		l.clock.Set(l.clock.NowMillis() + 1000)
		<-on
		l.service.DeleteTopic("T")
		if _, err := l.topics.Delete(retry.Topic); err != nil {
			t.Fatal(err)
		}
		l.settle()
		if l.topics.GetString(retry.Topic) != nil {
			t.Fatalf("the retry topic is there again, with %d messages", puts.Load())
		}
		l.close()
	}
}

// TestPop_WithoutOrderBehindOrder: what was handed out in order is visible again, and somebody pops it without order.
// To acknowledge it late takes the group nowhere back, over a restart neither.
func TestPop_WithoutOrderBehindOrder(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.open()
	l.send("T", 0, "a", "b", "c", "d")
	late := l.popAs(window, 2, 1000, true, "")
	l.turn(1000)
	wantBodies(t, l.pop(window, 3, 60_000), "a b c")
	if l.ack(late[0]) {
		t.Error("a late acknowledgement has an effect")
	}
	l.close()
	l.open()
	if l.ack(late[1]) {
		t.Error("a late acknowledgement has an effect after a restart")
	}
	wantBodies(t, l.pop(window, 8, 60_000), "d")
	l.close()
}
