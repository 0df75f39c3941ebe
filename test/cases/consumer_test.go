package cases

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// TestSendBack_PicksTheLevel is case BR-58: 0 means 3 + reconsumeTimes, a
// positive level is taken and clamped, a negative one is the dead letter queue.
// It runs before the parallel tests, because it counts the schedule queues.
func TestSendBack_PicksTheLevel(t *testing.T) {
	c := dialBroker(t)
	topic, group := suite.Name(t, "topic"), suite.Name(t, "group")
	c.MustCreateTopic(t, topic, 1)
	join(t, c, group, topic)
	sent := c.MustSend(t, wire.Send{Topic: topic, Body: []byte("again"), Properties: wire.Properties("TAGS", "a", "KEYS", "k")})
	for _, tc := range []struct{ asked, stored int }{{0, 3}, {1, 1}, {99, 18}} {
		before := c.MaxOffset(t, wire.ScheduleTopic, tc.stored-1)
		wantCode(t, fmt.Sprintf("send back with level %d", tc.asked), c.SendBack(t, group, topic, sent.CommitLogOffset, tc.asked), wire.Success)
		suite.Eventually(t, wire.Timeout, fmt.Sprintf("level %d grows by 1", tc.stored), func() bool {
			return c.MaxOffset(t, wire.ScheduleTopic, tc.stored-1) == before+1
		})
	}
	wantCode(t, "send back with level -1", c.SendBack(t, group, topic, sent.CommitLogOffset, -1), wire.Success)
	dead := c.MustPull(t, wire.Pull{Group: suite.Name(t, "reader"), Topic: "%DLQ%" + group, Suspend: wire.Timeout})
	wantCopy(t, "dead letter", dead, topic, sent)

	retry := c.MustPull(t, wire.Pull{Group: suite.Name(t, "reader"), Topic: "%RETRY%" + group, Suspend: wire.Timeout})
	wantCopy(t, "retry after 1 s", retry, topic, sent)
}

func wantCopy(t *testing.T, what string, got wire.Pulled, topic string, origin wire.Sent) {
	t.Helper()
	if len(got.Messages) != 1 {
		t.Errorf("%s: pulled %v, want one message", what, got.Frame)
		return
	}
	m := got.Messages[0]
	if string(m.Body) != "again" || m.ReconsumeTimes != 1 {
		t.Errorf("%s: body %q, reconsumeTimes %d; want the body and 1", what, m.Body, m.ReconsumeTimes)
	}
	for name, want := range map[string]string{
		"RETRY_TOPIC": topic, "ORIGIN_MESSAGE_ID": origin.MsgID, "TAGS": "a", "KEYS": "k",
	} {
		if m.Properties[name] != want {
			t.Errorf("%s: property %s is %q, want %q", what, name, m.Properties[name], want)
		}
	}
}

// TestSendBackThatCannotWork_SaysSo is case BR-59: a client that is told
// nothing drops the message.
func TestSendBackThatCannotWork_SaysSo(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic, group := suite.Name(t, "topic"), suite.Name(t, "group")
	c.MustCreateTopic(t, topic, 1)
	join(t, c, group, topic)
	const beyond = 1 << 45
	answer := c.SendBack(t, group, topic, beyond, 1)
	wantCode(t, "send back of nothing", answer, wire.SystemError)
	if want := fmt.Sprintf("look message by offset failed, %d", int64(beyond)); answer.Remark != want {
		t.Errorf("remark %q, want %q", answer.Remark, want)
	}
	// A group that nobody knows is created, so that the message is not lost.
	unknown := suite.Name(t, "unknown")
	sent := c.MustSend(t, wire.Send{Topic: topic, Body: []byte("again")})
	wantCode(t, "send back of an unknown group", c.SendBack(t, unknown, topic, sent.CommitLogOffset, 1), wire.Success)
	got := c.MustPull(t, wire.Pull{Group: unknown, Topic: "%RETRY%" + unknown, Suspend: wire.Timeout})
	if found := bodies(got.Messages); !slices.Equal(found, []string{"again"}) {
		t.Errorf("the retry topic of the unknown group holds %q, want the message", found)
	}
}

// TestQueueLocks_BelongToOneMember is case BR-56.
func TestQueueLocks_BelongToOneMember(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic, group := suite.Name(t, "topic"), suite.Name(t, "group")
	c.MustCreateTopic(t, topic, 2)
	queues := []wire.Queue{{BrokerName: "broker-a", QueueID: 0, Topic: topic}, {BrokerName: "broker-a", QueueID: 1, Topic: topic}}
	want := func(what string, got []wire.Queue, want ...wire.Queue) {
		t.Helper()
		slices.SortFunc(got, func(a, b wire.Queue) int { return a.QueueID - b.QueueID })
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	want("first asks", c.Lock(t, group, "first", queues...), queues...)
	want("first asks again", c.Lock(t, group, "first", queues...), queues...)
	want("second asks", c.Lock(t, group, "second", queues...))
	wantCode(t, "second unlocks", c.Unlock(t, group, "second", queues...), wire.Success)
	want("second asks after its own unlock", c.Lock(t, group, "second", queues...))
	want("another group asks", c.Lock(t, suite.Name(t, "other"), "second", queues...), queues...)
	wantCode(t, "first unlocks one", c.Unlock(t, group, "first", queues[1]), wire.Success)
	want("second asks for both", c.Lock(t, group, "second", queues...), queues[1])
	wantCode(t, "first unlocks", c.Unlock(t, group, "first", queues...), wire.Success)
	want("second asks at last", c.Lock(t, group, "second", queues...), queues...)
}

// TestQueueLock_Expires is the rest of case BR-56: what a member that died has locked is free a minute later.
func TestQueueLock_Expires(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic, group := suite.Name(t, "topic"), suite.Name(t, "group")
	c.MustCreateTopic(t, topic, 1)
	queue := wire.Queue{BrokerName: "broker-a", Topic: topic}
	begun := time.Now()
	if got := c.Lock(t, group, "first", queue); len(got) != 1 {
		t.Fatalf("first got %v", got)
	}
	const life = time.Minute
	suite.Eventually(t, life+slow, "second gets the queue", func() bool {
		time.Sleep(500 * time.Millisecond)
		return len(c.Lock(t, group, "second", queue)) == 1
	})
	if after := time.Since(begun); after < life {
		t.Errorf("second got it after %v, want %v", after, life)
	}
	if got := c.Lock(t, group, "first", queue); len(got) != 0 {
		t.Errorf("first got %v, which is the second's now", got)
	}
}

// TestLeavingMember_IsNoticedAtOnce is case BR-57.
func TestLeavingMember_IsNoticedAtOnce(t *testing.T) {
	t.Parallel()
	watcher := dialBroker(t)
	topic, group := suite.Name(t, "topic"), suite.Name(t, "group")
	watcher.MustCreateTopic(t, topic, 1)
	conns := map[string]*wire.Conn{}
	var want []string
	for _, id := range []string{"polite", "rude", "stays"} {
		conns[id] = dialBroker(t)
		conns[id].Heartbeat(t, wire.Member{ClientID: id, Group: group, Subscriptions: map[string]string{topic: "*"}})
		want = append(want, id)
	}
	wantMembers(t, watcher, group, want...)
	stays := conns["stays"]
	wantNotification(t, stays, group)

	answer := conns["polite"].Call(t, wire.UnregisterClient, map[string]string{"clientID": "polite", "consumerGroup": group}, nil)
	wantCode(t, "unregister", answer, wire.Success)
	wantMembers(t, watcher, group, "rude", "stays")
	wantNotification(t, stays, group)

	conns["rude"].Close()
	suite.Eventually(t, slow, "a closed connection leaves the group", func() bool {
		ids, _ := watcher.ConsumerIDs(t, group)
		return slices.Equal(ids, []string{"stays"})
	})
	wantNotification(t, stays, group)

	answer = stays.Call(t, wire.UnregisterClient, map[string]string{"clientID": "stays", "consumerGroup": group}, nil)
	wantCode(t, "unregister", answer, wire.Success)
	_, answer = watcher.ConsumerIDs(t, group)
	wantCode(t, "members of the empty group", answer, wire.SystemError)
	if want := "no consumer for this group, " + group; answer.Remark != want {
		t.Errorf("remark %q, want %q", answer.Remark, want)
	}
}

func wantMembers(t *testing.T, c *wire.Conn, group string, want ...string) {
	t.Helper()
	ids, answer := c.ConsumerIDs(t, group)
	wantCode(t, "members", answer, wire.Success)
	slices.Sort(ids)
	if !slices.Equal(ids, want) {
		t.Errorf("members %q, want %q", ids, want)
	}
}

// wantNotification waits for a change notification and takes the ones that came
// with it.
func wantNotification(t *testing.T, c *wire.Conn, group string) {
	t.Helper()
	select {
	case f := <-c.Requests():
		if f.Code != wire.NotifyIDsChanged || f.Ext["consumerGroup"] != group {
			t.Errorf("the broker sent %v, want notification 40 of %s", f, group)
		}
		if f.Flag&wire.FlagOneway == 0 {
			t.Error("the notification is not oneway: the broker waits for an answer")
		}
	case <-time.After(wire.Timeout):
		t.Errorf("no notification of the change of %s", group)
	}
	for quiet := time.After(300 * time.Millisecond); ; {
		select {
		case <-c.Requests():
		case <-quiet:
			return
		}
	}
}

// TestStrayAnswer_IsIgnored shows that a frame marked as an answer to a request
// that the broker never sent neither ends the connection nor gets an answer.
func TestStrayAnswer_IsIgnored(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	stray := &wire.Frame{Code: wire.Success, Flag: wire.FlagResponse, Opaque: 77, Remark: strings.Repeat("?", 100)}
	b, err := stray.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Write(b); err != nil {
		t.Fatal(err)
	}
	if n := c.MaxOffset(t, suite.Name(t, "topic"), 0); n != 0 {
		t.Errorf("max offset %d, want 0", n)
	}
	if n := len(c.Requests()); n != 0 {
		t.Errorf("the broker sent %d requests", n)
	}
}
