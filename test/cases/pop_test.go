package cases

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// popped are the bodies of a pop's messages, in order.
func popped(got wire.Popped) []string {
	var list []string
	for _, m := range got.Messages {
		list = append(list, string(m.Body))
	}
	return list
}

func wantPopped(t *testing.T, what string, got wire.Popped, want ...string) {
	t.Helper()
	code := wire.Success
	if len(want) == 0 {
		code = wire.PollingTimeout
	}
	wantCode(t, what, got.Frame, code)
	if bodies := popped(got); !slices.Equal(bodies, want) {
		t.Fatalf("%s: %q, want %q", what, bodies, want)
	}
}

// filled makes a topic of queues with n messages 0, 1, … in each; a tag stands behind each when given.
func filled(t *testing.T, c *wire.Conn, queues, n int, tags ...string) (topic, group string) {
	t.Helper()
	topic, group = suite.Name(t, "topic"), suite.Name(t, "group")
	c.MustCreateTopic(t, topic, queues)
	for q := range queues {
		for i := range n {
			s := wire.Send{Topic: topic, QueueID: q, Body: []byte(strconv.Itoa(i))}
			if len(tags) > 0 {
				s.Properties = wire.Properties("TAGS", tags[i%len(tags)])
			}
			c.MustSend(t, s)
		}
		c.Settle(t, topic, q, int64(n))
	}
	return topic, group
}

// TestPop_HandsOutAndTakesBack is the way of a message that is popped: it is in flight, is
// acknowledged, or comes back through the retry topic.
func TestPop_HandsOutAndTakesBack(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic, group := filled(t, c, 1, 5)
	p := wire.Pop{Group: group, Topic: topic, QueueID: wire.AnyQueue, MaxMsgNums: 3, Invisible: 3 * time.Second}
	got := c.MustPop(t, p)
	wantPopped(t, "pop", got, "0", "1", "2")
	for name, want := range map[string]string{
		"startOffsetInfo": "0 0 0", "msgOffsetInfo": "0 0 0,1,2", "invisibleTime": "3000", "restNum": "2",
	} {
		if got.Ext[name] != want {
			t.Errorf("%s is %q, want %q", name, got.Ext[name], want)
		}
	}
	if _, there := got.Ext["orderCountInfo"]; there || got.Remark != "FOUND" || got.PopTime == 0 || got.ReviveQid < 0 || got.ReviveQid > 7 {
		t.Errorf("the answer: %v", got.Frame)
	}
	wantCode(t, "ack", c.Ack(t, got.Messages[0]), wire.Success)
	wantCode(t, "the same ack", c.Ack(t, got.Messages[0]), wire.Success)
	wantCode(t, "batch ack", c.BatchAck(t, topic, got.Messages[2]), wire.Success)

	// The second one comes back, as one of the topic, to whoever pops.
	p.MaxMsgNums, p.Poll = 32, 15*time.Second
	rest := c.MustPop(t, p)
	wantPopped(t, "the rest", rest, "3", "4")
	wantCode(t, "ack of the rest", c.BatchAck(t, topic, rest.Messages...), wire.Success)
	back := c.MustPop(t, p)
	wantPopped(t, "what came back", back, "1")
	m := back.Messages[0]
	if m.Topic != topic || m.ReconsumeTimes != 1 || m.Stored != "%RETRY%"+group+"_"+topic || m.Properties["1ST_POP_TIME"] != strconv.FormatInt(got.PopTime, 10) {
		t.Errorf("what came back: topic %s, stored %s, consumed %d times, %v", m.Topic, m.Stored, m.ReconsumeTimes, m.Properties)
	}
	if back.Ext["startOffsetInfo"] != "1 0 0" || back.Ext["msgOffsetInfo"] != "1 0 0" || len(m.Fields()) != 8 {
		t.Errorf("its offsets: %v, its handle %q", back.Ext, m.Handle)
	}
	if back.PopTime < got.PopTime+3000 {
		t.Errorf("it came back %d ms after it was popped, want 3000 at least", back.PopTime-got.PopTime)
	}
	wantCode(t, "ack of what came back", c.Ack(t, m), wire.Success)
	p.Poll = 0
	wantPopped(t, "after all", c.MustPop(t, p))
}

// TestPop_ChangedInvisibleTime is the second part of case BR-73: a message whose invisible time is
// changed is visible at its new time, not at the old one.
func TestPop_ChangedInvisibleTime(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic, group := filled(t, c, 1, 2)
	p := wire.Pop{Group: group, Topic: topic, Invisible: 30 * time.Second}
	got := c.MustPop(t, p)
	wantPopped(t, "pop", got, "0", "1")
	soon, stale := got.Messages[1], got.Messages[1]
	begin := time.Now()
	answer := c.ChangeInvisible(t, &soon, time.Second)
	wantCode(t, "change", answer, wire.Success)
	if answer.Ext["invisibleTime"] != "1000" || answer.Ext["reviveQid"] != strconv.Itoa(got.ReviveQid) || answer.Int64(t, "popTime") < got.PopTime {
		t.Errorf("change: %v", answer)
	}
	wantCode(t, "ack with the old handle", c.Ack(t, stale), wire.Success)
	p.Poll = 15 * time.Second
	back := c.MustPop(t, p)
	wantPopped(t, "what came back", back, "1")
	if took := time.Since(begin); took < time.Second {
		t.Errorf("it came back after %v", took)
	}
	wantCode(t, "ack", c.BatchAck(t, topic, got.Messages[0], back.Messages[0]), wire.Success)
}

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

// TestPop_Filters pops with tags and with SQL92: what is not wanted is passed over for good.
func TestPop_Filters(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic, group := filled(t, c, 1, 6, "A", "B", "C")
	for _, f := range []struct {
		kind, expression string
		want             []string
	}{
		{"TAG", "A || C", []string{"0", "2", "3", "5"}},
		{"SQL92", "TAGS = 'B'", []string{"1", "4"}},
		{"TAG", "none", nil},
	} {
		p := wire.Pop{Group: group + strconv.Itoa(len(f.want)), Topic: topic, ExpressionType: f.kind, Expression: f.expression}
		got := c.MustPop(t, p)
		wantPopped(t, f.expression, got, f.want...)
		if len(f.want) > 0 && got.RestNum != 0 {
			t.Errorf("%s: %v", f.expression, got.Frame)
		}
		if len(f.want) > 0 {
			wantCode(t, "ack", c.BatchAck(t, topic, got.Messages...), wire.Success)
		}
		if after := c.MustPop(t, p); after.Code != wire.PollingTimeout {
			t.Errorf("%s again: %v", f.expression, after.Frame)
		}
	}
}

// TestPop_SharesAQueue has several consumers on one queue: each message goes to one of them.
func TestPop_SharesAQueue(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	const n, consumers = 60, 4
	topic, group := filled(t, c, 1, n)
	got := make(chan []string, consumers)
	for range consumers {
		conn := dialBroker(t)
		go func() {
			var mine []string
			for range 1000 {
				ctx, cancel := context.WithTimeout(t.Context(), wire.Timeout)
				answer, err := conn.Pop(ctx, wire.Pop{Group: group, Topic: topic, QueueID: wire.AnyQueue, MaxMsgNums: 5, Poll: time.Second})
				cancel()
				if err != nil || answer.Code != wire.Success {
					break
				}
				mine = append(mine, popped(answer)...)
			}
			got <- mine
		}()
	}
	var all []string
	for range consumers {
		all = append(all, <-got...)
	}
	slices.Sort(all)
	if len(all) != n || len(slices.Compact(all)) != n {
		t.Errorf("%d messages were handed out, want %d", len(all), n)
	}
}

// TestPop_WaitsForMessages has a pop and a notification wait.
func TestPop_WaitsForMessages(t *testing.T) {
	t.Parallel()
	c, other := dialBroker(t), dialBroker(t)
	topic, group := filled(t, c, 2, 0)
	const poll = 20 * time.Second
	p := wire.Pop{Group: group, Topic: topic, QueueID: wire.AnyQueue, Poll: poll}
	wait := func(do func(ctx context.Context) (*wire.Frame, error)) <-chan *wire.Frame {
		done := make(chan *wire.Frame, 1)
		go func() {
			ctx, cancel := context.WithTimeout(t.Context(), poll+wire.Timeout)
			defer cancel()
			answer, err := do(ctx)
			if err != nil {
				t.Error(err)
			}
			done <- answer
		}()
		return done
	}
	begin := time.Now()
	pop := wait(func(ctx context.Context) (*wire.Frame, error) {
		got, err := other.Pop(ctx, p)
		return got.Frame, err
	})
	polling := func() string {
		return c.Call(t, wire.PollingInfo, map[string]string{"consumerGroup": group, "topic": topic, "queueId": "-1"}, nil).Ext["pollingNum"]
	}
	suite.Eventually(t, 10*time.Second, "a pop is held", func() bool { return polling() == "1" })
	c.MustSend(t, wire.Send{Topic: topic, QueueID: 1, Body: []byte("a")})
	if answer := <-pop; answer == nil || answer.Code != wire.Success || answer.Ext["msgOffsetInfo"] != "0 1 0" {
		t.Errorf("the pop: %v", answer)
	}
	if took := time.Since(begin); took > poll/2 {
		t.Errorf("it took %v", took)
	}
	notified := wait(func(ctx context.Context) (*wire.Frame, error) { return other.Notify(ctx, p) })
	time.Sleep(300 * time.Millisecond)
	c.MustSend(t, wire.Send{Topic: topic, QueueID: 0, Body: []byte("b")})
	if answer := <-notified; answer == nil || answer.Code != wire.Success || answer.Ext["hasMsg"] != "true" || answer.Ext["pollingFull"] != "false" {
		t.Errorf("the notification: %v", answer)
	}
	peeked := c.Peek(t, wire.Pop{Group: group, Topic: topic, QueueID: wire.AnyQueue})
	wantCode(t, "peek", peeked.Frame, wire.Success)
	if bodies := popped(peeked); !slices.Equal(bodies, []string{"b"}) || peeked.RestNum != 1 {
		t.Errorf("peek: %q, %v", bodies, peeked.Frame)
	}
	p.Poll = time.Second
	wantPopped(t, "after a peek", c.MustPop(t, p), "b")
	begin = time.Now()
	empty := c.MustPop(t, p)
	wantPopped(t, "nothing", empty)
	if took := time.Since(begin); took < 900*time.Millisecond {
		t.Errorf("answered after %v, want after a second", took)
	}
	for name, want := range map[string]string{"startOffsetInfo": "", "msgOffsetInfo": "", "invisibleTime": "60000", "restNum": "0"} {
		if got, there := empty.Ext[name]; !there || got != want {
			t.Errorf("nothing: %s is %q %v, want %q", name, got, there, want)
		}
	}
}

// TestPop_NewGroups sees where a group begins that has no offset.
func TestPop_NewGroups(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic, group := filled(t, c, 1, 3)
	// The first message is in memory still, so that the queue counts as young.
	wantPopped(t, "from the end of a young queue", c.MustPop(t, wire.Pop{Group: group, Topic: topic, FromMax: true}), "0", "1", "2")
	if at := c.QueryOffset(t, group, topic, 0, nil); at.Ext["offset"] != "3" {
		t.Errorf("the group is at %v, want 3", at)
	}
}

// TestPop_Reset pops from where the offset was reset to (222).
func TestPop_Reset(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic, group := filled(t, c, 1, 4)
	p := wire.Pop{Group: group, Topic: topic}
	wantPopped(t, "pop", c.MustPop(t, p), "0", "1", "2", "3")
	answer := c.Call(t, 222, map[string]string{
		"topic": topic, "group": group, "queueId": "0", "offset": "2", "timestamp": "0", "isForce": "true",
	}, nil)
	wantCode(t, "reset", answer, wire.Success)
	wantPopped(t, "after the reset", c.MustPop(t, p), "2", "3")
}

// TestPop_DeadLetters is the first part of case BR-73: after the group's retry maximum a message goes
// to the group's dead letters. The real broker leaves that to its clients.
func TestPop_DeadLetters(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic, group := filled(t, c, 1, 1)
	wantCode(t, "group", c.Call(t, 200, nil, []byte(fmt.Sprintf(
		`{"groupName":%q,"consumeEnable":true,"consumeBroadcastEnable":true,"retryMaxTimes":1,"retryQueueNums":1,"brokerId":0}`, group))), wire.Success)
	p := wire.Pop{Group: group, Topic: topic, QueueID: wire.AnyQueue, Invisible: time.Second, Poll: 8 * time.Second}
	times, dead := 0, func() int64 { return c.MaxOffset(t, "%DLQ%"+group, 0) }
	for times < 3 && c.MustPop(t, p).Code == wire.Success {
		times++
	}
	suite.Differs(t, "cases/dead-letters-of-pop", times == 2 && dead() == 1, fmt.Sprintf("popped %d times, %d in %%DLQ%%", times, dead()))
}

// TestPop_ProgressAndTheEndOfATopic is what tools see of a group that pops: how far it is is what was handed
// out, or in order what was acknowledged. The retry topic goes with its topic.
func TestPop_ProgressAndTheEndOfATopic(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic, group := filled(t, c, 1, 3)
	retry := "%RETRY%" + group + "_" + topic
	stats := func(group, topic, want string) {
		t.Helper()
		answer := c.Call(t, wire.GetConsumeStats, map[string]string{"consumerGroup": group, "topic": topic}, nil)
		wantCode(t, "consume stats", answer, wire.Success)
		row := regexp.MustCompile(`"brokerOffset":(\d+),"consumerOffset":(\d+),"lastTimestamp":\d+,"pullOffset":(\d+)`).FindSubmatch(answer.Body)
		if got := fmt.Sprintf("%s", row[min(1, len(row)):]); got != want {
			t.Errorf("progress of %s in %s: %s, want %s", group, topic, got, want)
		}
	}
	got := c.MustPop(t, wire.Pop{Group: group, Topic: topic, MaxMsgNums: 2, Invisible: time.Second})
	wantPopped(t, "pop", got, "0", "1")
	ordered := c.MustPop(t, wire.Pop{Group: group + "-order", Topic: topic, MaxMsgNums: 2, Order: true})
	wantPopped(t, "pop in order", ordered, "0", "1")
	wantCode(t, "ack", c.Ack(t, ordered.Messages[0]), wire.Success)
	// The real broker lets others see it later.
	suite.Eventually(t, 10*time.Second, "both are shown", func() bool {
		return c.QueryOffset(t, group, topic, 0, nil).Ext["offset"] == "2" && c.QueryOffset(t, group+"-order", topic, 0, nil).Ext["offset"] == "1"
	})
	stats(group, topic, "[3 2 2]")
	stats(group+"-order", topic, "[3 1 1]")
	suite.Eventually(t, 20*time.Second, "both come back", func() bool { return c.MaxOffset(t, retry, 0) == 2 })
	stats(group, retry, "[2 0 0]")
	wantCode(t, "delete", c.Call(t, 215, map[string]string{"topic": topic}, nil), wire.Success)
	wantCode(t, "the retry topic", c.Call(t, 351, map[string]string{"topic": retry}, nil), wire.TopicNotExist)
}

// TestPop_WithoutTimers pops from a broker whose timers are switched off.
func TestPop_WithoutTimers(t *testing.T) {
	t.Parallel()
	target := peer.StartTarget(t, map[string]string{"timerWheelEnable": "false"})
	c := wire.Dial(t, target.BrokerAddr)
	topic, group := filled(t, c, 1, 1)
	got := c.MustPop(t, wire.Pop{Group: group, Topic: topic})
	suite.Differs(t, "cases/pop-without-timers", got.Code == wire.Success, got.Frame.String())
}

// TestPop_RetryTopicsOfVersion2 are used when enableRetryTopicV2 is set.
func TestPop_RetryTopicsOfVersion2(t *testing.T) {
	t.Parallel()
	target := peer.StartTarget(t, map[string]string{"enableRetryTopicV2": "true"})
	c := wire.Dial(t, target.BrokerAddr)
	topic, group := filled(t, c, 1, 1)
	p := wire.Pop{Group: group, Topic: topic, QueueID: wire.AnyQueue, Invisible: time.Second, Poll: 15 * time.Second}
	wantPopped(t, "pop", c.MustPop(t, p), "0")
	back := c.MustPop(t, p)
	wantPopped(t, "what came back", back, "0")
	m := back.Messages[0]
	if m.Stored != "%RETRY%"+group+"+"+topic || m.Topic != topic || back.Ext["msgOffsetInfo"] != "2 0 0" {
		t.Errorf("it is stored in %s, shown in %s, %v", m.Stored, m.Topic, back.Frame)
	}
	wantCode(t, "ack", c.BatchAck(t, topic, m), wire.Success)
}

// popRefusals are requests that must be refused, with code and the beginning of the remark.
func popRefusals(topic, group string) []struct {
	name   string
	code   int
	header map[string]string
	want   int
	remark string
} {
	pop := func(change ...string) map[string]string {
		header := wire.Pop{Group: group, Topic: topic, QueueID: wire.AnyQueue}.Header()
		for i := 0; i < len(change); i += 2 {
			header[change[i]] = change[i+1]
		}
		return header
	}
	const good = "0 1796003290480 15000 4 0 broker-a 0 0"
	handle := func(change ...string) map[string]string {
		header := map[string]string{
			"consumerGroup": group, "topic": topic, "queueId": "0", "offset": "0", "extraInfo": good, "invisibleTime": "1000",
		}
		for i := 0; i < len(change); i += 2 {
			header[change[i]] = change[i+1]
		}
		return header
	}
	return []struct {
		name   string
		code   int
		header map[string]string
		want   int
		remark string
	}{
		{"late", wire.PopMessage, pop("bornTime", "1000"), wire.PollingTimeout, "the broker["},
		{"33 messages", wire.PopMessage, pop("maxMsgNums", "33"), wire.InvalidParameter, "the broker["},
		{"unknown topic", wire.PopMessage, pop("topic", topic+"-nope"), wire.TopicNotExist, "topic["},
		{"bad queue", wire.PopMessage, pop("queueId", "55"), wire.InvalidParameter, "queueId[55] is illegal, topic:["},
		{"bad SQL", wire.PopMessage, pop("expType", "SQL92", "exp", "a >>> 1"), wire.SubscriptionBroken, "parse the consumer's subscription failed"},
		{"notification of no topic", wire.Notification, pop("topic", topic+"-nope"), wire.TopicNotExist, "topic["},
		{"notification of a bad queue", wire.Notification, pop("queueId", "55"), wire.InvalidParameter, "queueId[55] is illegal, topic:["},
		{"peek of no topic", wire.PeekMessage, pop("topic", topic+"-nope"), wire.TopicNotExist, "topic["},
		{"polling info of no topic", wire.PollingInfo, pop("topic", topic+"-nope"), wire.TopicNotExist, "topic["},
		{"ack of no topic", wire.AckMessage, handle("topic", topic+"-nope"), wire.TopicNotExist, "topic["},
		{"ack of a bad queue", wire.AckMessage, handle("queueId", "88"), wire.MessageIllegal, "queueId[88] is illegal, topic:["},
		{"ack past the end", wire.AckMessage, handle("offset", "99999"), wire.NoMessage, "offset is illegal, key:" + topic + "@0, commit:99999, store:0~1"},
		{"ack with nonsense", wire.AckMessage, handle("extraInfo", "nonsense"), wire.SystemError, ""},
		{"ack with half a handle", wire.AckMessage, handle("extraInfo", "0 1796003290480 15000"), wire.SystemError, ""},
		{"change of no topic", wire.ChangeInvisibleTime, handle("topic", topic+"-nope"), wire.TopicNotExist, "topic["},
		{"change of a bad queue", wire.ChangeInvisibleTime, handle("queueId", "88"), wire.MessageIllegal, "queueId[88] is illegal, topic:["},
		{"change past the end", wire.ChangeInvisibleTime, handle("offset", "1"), wire.NoMessage, ""},
		{"change with nonsense", wire.ChangeInvisibleTime, handle("extraInfo", "nonsense"), wire.SystemError, ""},
		{"a stale ack", wire.AckMessage, handle(), wire.Success, ""},
		{"a foreign ack", wire.AckMessage, handle("consumerGroup", "foreign"), wire.Success, ""},
		{"a stale change", wire.ChangeInvisibleTime, handle(), wire.Success, ""},
		{"a batch of nothing", wire.BatchAckMessage, nil, wire.NoMessage, ""},
	}
}

// TestPop_Refusals sees the answers to pops and handles that are wrong.
func TestPop_Refusals(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic, group := filled(t, c, 1, 1)
	for _, r := range popRefusals(topic, group) {
		answer := c.Call(t, r.code, r.header, nil)
		if answer.Code != r.want || !strings.HasPrefix(answer.Remark, r.remark) {
			t.Errorf("%s: %v, want code %d, %s…", r.name, answer, r.want, r.remark)
		}
		if r.code == wire.PopMessage && r.want != wire.Success {
			for _, name := range []string{"popTime", "invisibleTime", "reviveQid", "restNum"} {
				if answer.Ext[name] != "0" {
					t.Errorf("%s: %s is %q, want 0", r.name, name, answer.Ext[name])
				}
			}
		}
	}
	writeOnly := suite.Name(t, "write-only")
	c.CreateTopic(t, wire.Topic{Name: writeOnly, Read: 1, Write: 1, Perm: 2})
	answer := c.Call(t, wire.PopMessage, wire.Pop{Group: group, Topic: writeOnly}.Header(), nil)
	wantCode(t, "write only", answer, wire.NoPermission)
	if want := "the topic[" + writeOnly + "] peeking message is forbidden"; answer.Remark != want {
		t.Errorf("write only: %q, want %q", answer.Remark, want)
	}
}

// TestPop_OffsetsSurviveARestart is case BR-27 for pop: what was consumed does not come again.
func TestPop_OffsetsSurviveARestart(t *testing.T) {
	t.Parallel()
	target := peer.StartTarget(t, nil)
	c := wire.Dial(t, target.BrokerAddr)
	topic, group := filled(t, c, 1, 5)
	p := wire.Pop{Group: group, Topic: topic, MaxMsgNums: 3, Invisible: time.Hour}
	got := c.MustPop(t, p)
	wantPopped(t, "before", got, "0", "1", "2")
	wantCode(t, "ack", c.BatchAck(t, topic, got.Messages...), wire.Success)
	c.Close()
	target.Restart()
	c = wire.Dial(t, target.BrokerAddr)
	suite.Eventually(t, 30*time.Second, "the broker answers", func() bool { return c.MaxOffset(t, topic, 0) == 5 })
	wantPopped(t, "after", c.MustPop(t, p), "3", "4")
}
