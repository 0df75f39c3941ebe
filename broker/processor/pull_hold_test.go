package processor_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/wheelmq/wheelmq/broker/processor"
	"github.com/wheelmq/wheelmq/remoting"
)

// held is the change that makes a pull wait for seconds.
func held(seconds int, subscription string) ext {
	return ext{"sysFlag": "6", "suspendTimeoutMillis": strconv.Itoa(seconds * 1000), "subscription": subscription}
}

// answered waits for the answer to a held pull.
func (l *lab) answered(c *conn) *remoting.Command {
	l.t.Helper()
	var sent []remoting.Command
	eventually(l.t, "the answer of a held pull", func() bool {
		sent = c.take()
		return len(sent) > 0
	})
	if len(sent) != 1 || sent[0].Opaque != 7 {
		l.t.Fatalf("sent %+v, want one answer to request 7", sent)
	}
	return &sent[0]
}

func TestHeldPullIsWokenByAMatch(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.put("T", 0, "a", "before")
	c := &conn{id: 1}
	if reply := l.pull(c, 1, held(15, "a")); reply != nil {
		t.Fatalf("answered with %d at once, want it held", reply.Code)
	}
	l.put("T", 0, "b", "other tag")
	l.put("T", 1, "a", "other queue")
	if n := l.polls.Waiting(); n != 1 {
		t.Fatalf("%d pulls wait, want 1", n)
	}
	l.put("T", 0, "a", "wanted")
	wantPulled(t, l.answered(c), remoting.Success, "FOUND", 3, 0, 3, "wanted")
}

func TestHeldPullTimesOutOnTime(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	idle, passed := &conn{id: 1}, &conn{id: 2}
	l.put("T", 0, "a", "x")
	l.pull(idle, 1, held(3, "*"))
	l.pull(passed, 0, ext{"queueId": "1", "sysFlag": "6", "suspendTimeoutMillis": "5000", "subscription": "b"})
	eventually(t, "the first deadline", func() bool {
		at, armed := l.wire.Next()
		return armed && at == 1_003_000
	})
	l.wire.Set(1_002_999)
	if sent := idle.take(); len(sent) != 0 {
		t.Fatalf("answered before its time: %+v", sent)
	}
	l.wire.Set(1_003_000)
	wantPulled(t, l.answered(idle), remoting.PullNotFound, "OFFSET_OVERFLOW_ONE", 1, 0, 1)
	l.put("T", 1, "a", "not wanted")
	l.wire.Set(1_005_000)
	wantPulled(t, l.answered(passed), remoting.PullRetryImmediately, "NO_MATCHED_MESSAGE", 1, 0, 1)
}

func TestShortPollingIsASecond(t *testing.T) {
	t.Parallel()
	l := newLab(t, func(o *processor.PullOptions) { o.LongPolling = false })
	c := &conn{id: 1}
	l.pull(c, 0, held(15, "*"))
	eventually(t, "the deadline", func() bool {
		at, armed := l.wire.Next()
		return armed && at == 1_001_000
	})
	l.wire.Set(1_001_000)
	wantPulled(t, l.answered(c), remoting.PullNotFound, "NO_MATCHED_LOGIC_QUEUE", 0, 0, 0)
}

func TestHeldPullDoesNotCommitTwice(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c := &conn{id: 1}
	l.pull(c, 0, ext{"sysFlag": "7", "suspendTimeoutMillis": "15000", "commitOffset": "3"})
	l.offsets.Commit([]byte("g"), []byte("T"), 0, 8)
	l.put("T", 0, "", "x")
	l.answered(c)
	if got := l.offsets.Query([]byte("g"), []byte("T"), 0); got != 8 {
		t.Errorf("committed %d, want the later commit's 8", got)
	}
}

func TestClosedConnectionsPullIsDropped(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c := &conn{id: 1}
	l.pull(c, 0, held(15, "*"))
	c.Close("")
	l.polls.ConnClosed(c.ID())
	if n := l.polls.Waiting(); n != 0 {
		t.Errorf("%d pulls wait, want none", n)
	}
	l.put("T", 0, "", "x")
	if sent := c.take(); len(sent) != 0 {
		t.Errorf("a closed connection is sent %+v", sent)
	}
}

// TestNothingIsLostBetweenReadAndParking sends while pulls park, again and again.
func TestNothingIsLostBetweenReadAndParking(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for i := range 200 {
		c := &conn{id: uint64(i)}
		sent := make(chan struct{})
		go func() {
			l.put("T", 0, "", fmt.Sprint(i))
			close(sent)
		}()
		reply := l.pull(c, int64(i), held(3600, "*"))
		<-sent
		if reply == nil {
			reply = l.answered(c)
		}
		wantPulled(t, reply, remoting.Success, "FOUND", int64(i+1), 0, int64(i+1), fmt.Sprint(i))
	}
}

func TestColdPullLeavesTheEventLoop(t *testing.T) {
	t.Parallel()
	l := newLab(t, func(o *processor.PullOptions) { o.Limits.HotBytes = 2000 })
	for i := range 100 {
		l.put("T", 0, "", strconv.Itoa(i))
	}
	c := &conn{id: 1}
	if reply := l.pull(c, 0, nil); reply != nil {
		t.Fatal("a cold pull is answered on the event loop")
	}
	wantPulled(t, l.answered(c), remoting.Success, "FOUND", 8, 0, 100, "0", "1", "2", "3", "4", "5", "6", "7")
	if reply := l.pull(c, 99, nil); reply == nil {
		t.Error("a hot pull leaves the event loop")
	}
}
