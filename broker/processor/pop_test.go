package processor_test

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/broker/pop"
	"github.com/wheelmq/wheelmq/broker/processor"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

// popLab is a lab whose consumers pop.
type popLab struct {
	*lab
	pops   *pop.Service
	routes []remoting.Route
}

// Park implements pop.Parker.
func (l *popLab) Park(rec *message.Record, _, reason string) error {
	l.t.Errorf("a message of %s is parked: %s", rec.Topic, reason)
	return nil
}

func newPopLab(t testing.TB, change ...func(*processor.PopOptions)) *popLab {
	t.Helper()
	l := &popLab{lab: newLab(t)}
	differences, err := difference.NewSet("")
	if err != nil {
		t.Fatal(err)
	}
	opts := processor.PopOptions{
		Topics: l.topics, Groups: l.groups, Offsets: l.offsets, Store: l.store, Polls: l.polls, Stats: l.stats, Time: l.time,
		Wire: l.wire, Differences: differences, Log: quiet(), BrokerName: "broker-a", BrokerIP: "127.0.0.1",
	}
	for _, f := range change {
		f(&opts)
	}
	l.pops, err = pop.New(pop.Options{
		Store: l.time, Wire: l.wire, Log: l.store, Appender: appender.New(l.store), Topics: l.topics, Groups: l.groups, Offsets: l.offsets,
		FS: l.store.FS(), Sync: opts.SyncFlush, Park: l, Logger: quiet(), Differences: opts.Differences, Visible: func(k pop.Key) { l.polls.Wake(k.Topic, k.Group, k.QueueID) },
		Settings: pop.Settings{MaxInFlight: opts.MaxInFlight},
	})
	if err != nil {
		t.Fatal(err)
	}
	l.groups["g"].RetryMaxTimes = 16
	l.topics["%RETRY%g_T"] = plain("%RETRY%g_T", 1)
	l.pops.Start()
	t.Cleanup(func() { _ = l.pops.Close() })
	opts.Windows = l.pops
	l.routes = append(processor.NewPop(opts).Routes(), (&processor.PopAck{
		Topics: l.topics, Groups: l.groups, Store: l.store, Handles: l.pops, Time: l.time, Stats: l.stats, SyncFlush: opts.SyncFlush,
	}).Routes()...)
	return l
}

func (l *popLab) request(c *conn, code int32, fields ext) *remoting.Command {
	l.t.Helper()
	all := ext{
		"consumerGroup": "g", "topic": "T", "queueId": "-1", "maxMsgNums": "32", "invisibleTime": "60000", "pollTime": "0",
		"bornTime": strconv.FormatInt(l.wire.NowMillis(), 10), "initMode": "0",
	}
	maps.Copy(all, fields)
	return request(l.t, l.routes, c, code, all, "")
}

// pop pops, and waits for an answer that is deferred.
func (l *popLab) pop(fields ext) *remoting.Command {
	l.t.Helper()
	c := &conn{id: 1}
	reply := l.request(c, remoting.PopMessage, fields)
	if reply != nil {
		return reply
	}
	var sent []remoting.Command
	eventually(l.t, "the answer", func() bool { sent = append(sent, c.take()...); return len(sent) == 1 })
	return &sent[0]
}

// popped is what a pop got: bodies, and where they are from.
func popped(t testing.TB, reply *remoting.Command) string {
	t.Helper()
	var all []string
	for body := reply.Body; len(body) > 0; {
		v, err := message.Parse(body)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(v.Body))
		body = body[v.Size:]
	}
	return strings.Join(all, " ") + " | " + field(reply, "startOffsetInfo") + " | " + field(reply, "msgOffsetInfo")
}

func TestPop_PassesOverWhatNobodyWants(t *testing.T) {
	t.Parallel()
	l := newPopLab(t)
	for i := range 900 {
		tag := "B"
		if i%899 == 0 {
			tag = "A"
		}
		l.put("T", 1, tag, strconv.Itoa(i))
	}
	first := l.pop(ext{"exp": "A", "expType": "TAG"})
	if got := popped(t, first); got != "0 | 0 1 0 | 0 1 0" || field(first, "restNum") != "100" {
		t.Errorf("first: %s, %s are left", got, field(first, "restNum"))
	}
	if got := popped(t, l.pop(ext{"exp": "A"})); got != "899 | 0 1 800 | 0 1 899" {
		t.Errorf("second: %s", got)
	}
	if at := l.offsets.Query([]byte("g"), []byte("T"), 1); at != 900 {
		t.Errorf("the group is at %d, want 900", at)
	}
}

// TestPop_HeldOneGoesOnByItself: what it looks through at once is bounded, and nothing of what it wants
// is among that.
func TestPop_HeldOneGoesOnByItself(t *testing.T) {
	t.Parallel()
	l := newPopLab(t)
	for range 2000 {
		l.put("T", 0, "B", "x")
	}
	l.put("T", 0, "A", "wanted")
	if got := popped(t, l.pop(ext{"exp": "A", "pollTime": "10000"})); got != "wanted | 0 0 1600 | 0 0 2000" {
		t.Errorf("popped %s", got)
	}
}

// TestPop_RetryTopicsOfBothVersions come with the topic's messages, as ones of it.
func TestPop_RetryTopicsOfBothVersions(t *testing.T) {
	t.Parallel()
	for _, actual := range []bool{false, true} {
		l := newPopLab(t, func(o *processor.PopOptions) { o.ActualRetryTopic = actual })
		l.topics["%RETRY%g+T"] = plain("%RETRY%g+T", 1)
		for name, body := range map[string]string{"%RETRY%g_T": "one", "%RETRY%g+T": "two"} {
			l.put(name, 0, "A", body)
		}
		l.put("T", 1, "A", "zero")
		reply := l.pop(nil)
		now := l.time.NowMillis()
		if got := popped(t, reply); got != "zero one two | 0 1 0;1 0 0;2 0 0 | 0 1 0;1 0 0;2 0 0" {
			t.Fatalf("popped %s", got)
		}
		body := reply.Body
		for _, flag := range []string{"0", "1", "2"} {
			v, err := message.ParseVerify(body)
			if err != nil {
				t.Fatal(err)
			}
			handle, _ := message.PropertyGet(v.Properties, message.PropertyPopCK)
			want := fmt.Sprintf("0 %d 60000 %s %s broker-a 0 0", now, field(reply, "reviveQid"), flag)
			if actual || flag == "0" {
				want = ""
			}
			if string(handle) != want || actual == (string(v.Topic) == "T") && flag != "0" || v.StoreTimestamp == 0 {
				t.Errorf("actual %v, flag %s: topic %s, handle %q, want %q", actual, flag, v.Topic, handle, want)
			}
			body = body[v.Size:]
		}
	}
}

// TestPop_ByPriority reads the highest queue first in topics with priorities.
func TestPop_ByPriority(t *testing.T) {
	t.Parallel()
	for _, low := range []bool{false, true} {
		l := newPopLab(t, func(o *processor.PopOptions) { o.LowQueuesFirst = low })
		l.topics["T"] = plain("T", 4)
		l.topics["T"].Attributes = map[string]string{"message.type": "PRIORITY"}
		want := []string{"3", "2", "1", "0"}
		if low {
			want = []string{"0", "1", "2", "3"}
		}
		for q := range 4 {
			l.put("T", int32(q), "", strconv.Itoa(q))
		}
		for _, body := range want {
			if got, _, _ := strings.Cut(popped(t, l.pop(ext{"maxMsgNums": "1"})), " "); got != body {
				t.Errorf("low queues first %v: popped %s, want %s", low, got, body)
			}
		}
	}
}

// TestPop_OffsetsAreCorrected: a group whose offset is not in the queue goes on where there is something.
func TestPop_OffsetsAreCorrected(t *testing.T) {
	t.Parallel()
	l := newPopLab(t)
	l.put("T", 0, "", "a")
	l.offsets.Commit([]byte("g"), []byte("T"), 0, 77)
	if got := popped(t, l.pop(nil)); got != " |  | " {
		t.Errorf("popped %s", got)
	}
	l.put("T", 0, "", "b")
	if got := popped(t, l.pop(nil)); got != "b | 0 0 1 | 0 0 1" {
		t.Errorf("popped %s", got)
	}
}

// TestPop_TurnsAndTimes holds pops until something arrives, comes back, or their time is up.
func TestPop_TurnsAndTimes(t *testing.T) {
	t.Parallel()
	l := newPopLab(t)
	first, second := &conn{id: 1}, &conn{id: 2}
	for _, c := range []*conn{first, second} {
		if l.request(c, remoting.PopMessage, ext{"pollTime": "10000"}) != nil {
			t.Fatal("an empty topic is answered at once")
		}
	}
	if n := field(l.request(first, remoting.PollingInfo, nil), "pollingNum"); n != "2" {
		t.Errorf("%s pops wait, want 2", n)
	}
	answered := func(c *conn, want string) {
		t.Helper()
		var sent []remoting.Command
		eventually(t, want, func() bool { sent = append(sent, c.take()...); return len(sent) == 1 })
		if got := popped(t, &sent[0]); got != want {
			t.Errorf("popped %s, want %s", got, want)
		}
	}
	l.put("T", 1, "", "a")
	answered(first, "a | 0 1 0 | 0 1 0")
	if second.take() != nil {
		t.Error("one message has two takers")
	}
	l.time.Set(l.time.NowMillis() + 60_000)
	answered(second, "a | 1 0 0 | 1 0 0")
	if l.request(first, remoting.PopMessage, ext{"pollTime": "10000", "order": "true"}) != nil {
		t.Fatal("an empty topic is answered at once")
	}
	l.wire.Set(l.wire.NowMillis() + 9_950)
	answered(first, " |  | ")
}

// TestPop_NoMoreThanMayBeInFlight: who pops then waits for an acknowledgement of somebody else's messages.
func TestPop_NoMoreThanMayBeInFlight(t *testing.T) {
	t.Parallel()
	l := newPopLab(t, func(o *processor.PopOptions) { o.MaxInFlight = 2 })
	for _, body := range []string{"a", "b", "c", "d"} {
		l.put("T", 1, "", body)
	}
	first := l.pop(ext{"maxMsgNums": "2"})
	if reply := l.pop(nil); reply.Code != remoting.PollingTimeout || field(reply, "restNum") != "2" {
		t.Errorf("code %d, %s are left", reply.Code, field(reply, "restNum"))
	}
	wantPoppedOnAck(t, l, first, "c d | 0 1 2 | 0 1 2,3")
}

// wantPoppedOnAck has a pop wait, which the acknowledgement of the first message of another pop answers.
func wantPoppedOnAck(t *testing.T, l *popLab, first *remoting.Command, want string) {
	t.Helper()
	waits := &conn{id: 2}
	if l.request(waits, remoting.PopMessage, ext{"pollTime": "10000"}) != nil {
		t.Fatal("it is answered at once")
	}
	wantReply(t, l.request(&conn{id: 1}, remoting.AckMessage, poppedHandle(first, "0")), remoting.Success, "")
	var sent []remoting.Command
	eventually(t, "the answer", func() bool { sent = append(sent, waits.take()...); return len(sent) == 1 })
	if got := popped(t, &sent[0]); got != want {
		t.Errorf("popped %s", got)
	}
}

// TestPop_ADeadConnectionTakesNothing: a message arrives for a consumer that is gone, which the polls have
// not heard yet. The next one gets it.
func TestPop_ADeadConnectionTakesNothing(t *testing.T) {
	t.Parallel()
	for _, code := range []int32{remoting.PopMessage, remoting.Notification} {
		l := newPopLab(t)
		first, second := &conn{id: 1}, &conn{id: 2}
		for _, c := range []*conn{first, second} {
			if l.request(c, code, ext{"pollTime": "10000"}) != nil {
				t.Fatal("an empty topic is answered at once")
			}
		}
		first.Close("gone")
		l.put("T", 1, "", "a")
		var sent []remoting.Command
		eventually(t, "the answer to the second", func() bool { sent = append(sent, second.take()...); return len(sent) == 1 })
		if code == remoting.PopMessage && popped(t, &sent[0]) != "a | 0 1 0 | 0 1 0" || code == remoting.Notification && field(&sent[0], "hasMsg") != "true" {
			t.Errorf("%d: %+v", code, sent[0])
		}
	}
}

func TestPop_Notification(t *testing.T) {
	t.Parallel()
	l := newPopLab(t)
	c := &conn{id: 1}
	ask := func(fields ext) *remoting.Command { return l.request(c, remoting.Notification, fields) }
	if got := field(ask(nil), "hasMsg"); got != "false" {
		t.Errorf("an empty topic: %s", got)
	}
	if ask(ext{"pollTime": "10000"}) != nil {
		t.Fatal("it is answered at once")
	}
	l.put("T", 0, "", "a")
	var sent []remoting.Command
	eventually(t, "the notification", func() bool { sent = append(sent, c.take()...); return len(sent) == 1 })
	if got := field(&sent[0], "hasMsg"); got != "true" {
		t.Errorf("notified: %s", got)
	}
	peeked := l.request(c, remoting.PeekMessage, nil)
	if got := popped(t, peeked); got != "a | <absent> | <absent>" || field(peeked, "restNum") != "1" {
		t.Errorf("peeked %s", got)
	}
	l.pop(ext{"order": "true"})
	if got := field(ask(ext{"order": "true"}), "hasMsg"); got != "false" {
		t.Errorf("a queue that somebody takes from in order: %s", got)
	}
	wantReply(t, l.request(c, remoting.PeekMessage, ext{"queueId": "1"}), remoting.PullNotFound, "NO_MESSAGE_IN_QUEUE")
}

func TestPop_Refused(t *testing.T) {
	t.Parallel()
	l := newPopLab(t)
	closed := group("closed")
	closed.ConsumeEnable = false
	l.groups["closed"] = closed
	for _, c := range []struct {
		fields ext
		code   int32
		remark string
	}{
		{ext{"bornTime": "1"}, remoting.PollingTimeout, "the broker[127.0.0.1] pop message is timeout too much"},
		{ext{"maxMsgNums": "33"}, remoting.InvalidParameter, "the broker[127.0.0.1] pop message's num is greater than 32"},
		{ext{"maxMsgNums": "0"}, remoting.InvalidParameter, ""},
		{ext{"topic": "X"}, remoting.TopicNotExist, ""},
		{ext{"queueId": "2"}, remoting.InvalidParameter, "queueId[2] is illegal, topic:[T] topicConfig.readQueueNums:[2] consumer:[/127.0.0.1:4000]"},
		{ext{"consumerGroup": "x"}, remoting.SubscriptionGroupNotExist, ""},
		{ext{"consumerGroup": "closed"}, remoting.NoPermission, "subscription group no permission, closed"},
		{ext{"expType": "SQL92", "exp": "a >>> 1"}, remoting.SubscriptionParseFailed, "parse the consumer's subscription failed"},
	} {
		reply := l.request(&conn{}, remoting.PopMessage, c.fields)
		wantReply(t, reply, c.code, c.remark)
		if field(reply, "popTime") != "0" || field(reply, "restNum") != "0" {
			t.Errorf("%v: %v", c.fields, reply.Ext.All())
		}
	}
}
