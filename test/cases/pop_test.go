package cases

import (
	"context"
	"fmt"
	"slices"
	"strconv"
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
	suite.WithLead(t, 3*time.Second, func(invisible time.Duration) bool {
		topic, group := filled(t, c, 1, 5)
		p := wire.Pop{Group: group, Topic: topic, QueueID: wire.AnyQueue, MaxMsgNums: 3, Invisible: invisible}
		begin := time.Now()
		got := c.MustPop(t, p)
		wantHandedOut(t, got, invisible)
		wantCode(t, "ack", c.Ack(t, got.Messages[0]), wire.Success)
		wantCode(t, "the same ack", c.Ack(t, got.Messages[0]), wire.Success)
		wantCode(t, "batch ack", c.BatchAck(t, topic, got.Messages[2]), wire.Success)
		p.MaxMsgNums, p.Poll = 32, slow
		rest := c.MustPop(t, p)
		if time.Since(begin) >= invisible {
			return false
		}
		wantPopped(t, "the rest", rest, "3", "4")
		wantCode(t, "ack of the rest", c.BatchAck(t, topic, rest.Messages...), wire.Success)
		back := c.MustPop(t, p)
		wantBack(t, got, back, p)
		wantCode(t, "ack of what came back", c.Ack(t, back.Messages[0]), wire.Success)
		p.Poll = 0
		wantPopped(t, "after all", c.MustPop(t, p))
		return true
	})
}

func wantHandedOut(t *testing.T, got wire.Popped, invisible time.Duration) {
	t.Helper()
	wantPopped(t, "pop", got, "0", "1", "2")
	for name, want := range map[string]string{
		"startOffsetInfo": "0 0 0", "msgOffsetInfo": "0 0 0,1,2", "invisibleTime": strconv.FormatInt(invisible.Milliseconds(), 10), "restNum": "2",
	} {
		if got.Ext[name] != want {
			t.Errorf("%s is %q, want %q", name, got.Ext[name], want)
		}
	}
	if _, there := got.Ext["orderCountInfo"]; there || got.Remark != "FOUND" || got.PopTime == 0 || got.ReviveQid < 0 || got.ReviveQid > 7 {
		t.Errorf("the answer: %v", got.Frame)
	}
}

// wantBack wants the second message of a pop back, as one of the topic, to whoever pops.
func wantBack(t *testing.T, got, back wire.Popped, p wire.Pop) {
	t.Helper()
	wantPopped(t, "what came back", back, "1")
	m := back.Messages[0]
	if m.Topic != p.Topic || m.ReconsumeTimes != 1 || m.Stored != "%RETRY%"+p.Group+"_"+p.Topic || m.Properties["1ST_POP_TIME"] != strconv.FormatInt(got.PopTime, 10) {
		t.Errorf("what came back: topic %s, stored %s, consumed %d times, %v", m.Topic, m.Stored, m.ReconsumeTimes, m.Properties)
	}
	if back.Ext["startOffsetInfo"] != "1 0 0" || back.Ext["msgOffsetInfo"] != "1 0 0" || len(m.Fields()) != 8 {
		t.Errorf("its offsets: %v, its handle %q", back.Ext, m.Handle)
	}
	if after, want := back.PopTime-got.PopTime, p.Invisible.Milliseconds(); after < want {
		t.Errorf("it came back %d ms after it was popped, want %d at least", after, want)
	}
}

// TestPop_ChangedInvisibleTime is the second part of case BR-73: a message whose invisible time is
// changed is visible at its new time, not at the old one.
func TestPop_ChangedInvisibleTime(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic, group := filled(t, c, 1, 2)
	p := wire.Pop{Group: group, Topic: topic, Invisible: slow}
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
	p.Poll = slow
	back := c.MustPop(t, p)
	wantPopped(t, "what came back", back, "1")
	if took := time.Since(begin); took < time.Second {
		t.Errorf("it came back after %v", took)
	}
	wantCode(t, "ack", c.BatchAck(t, topic, got.Messages[0], back.Messages[0]), wire.Success)
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

// TestPop_DeadLetters is the first part of case BR-73: after the group's retry maximum a message goes
// to the group's dead letters. The real broker leaves that to its clients.
func TestPop_DeadLetters(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic, group := filled(t, c, 1, 1)
	wantCode(t, "group", c.Call(t, 200, nil, fmt.Appendf(nil,
		`{"groupName":%q,"consumeEnable":true,"consumeBroadcastEnable":true,"retryMaxTimes":1,"retryQueueNums":1,"brokerId":0}`, group)), wire.Success)
	p := wire.Pop{Group: group, Topic: topic, QueueID: wire.AnyQueue, Invisible: time.Second, Poll: 500 * time.Millisecond}
	times, dead := 0, func() int64 { return c.MaxOffset(t, "%DLQ%"+group, 0) }
	suite.Eventually(t, slow, "it comes a third time, or not again", func() bool {
		if c.MustPop(t, p).Code == wire.Success {
			times++
		}
		return times == 3 || dead() > 0
	})
	suite.Differs(t, "cases/dead-letters-of-pop", times == 2 && dead() == 1, fmt.Sprintf("popped %d times, %d in %%DLQ%%", times, dead()))
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
	p := wire.Pop{Group: group, Topic: topic, QueueID: wire.AnyQueue, Invisible: time.Second, Poll: 5 * time.Second}
	wantPopped(t, "pop", c.MustPop(t, p), "0")
	var back wire.Popped
	suite.Eventually(t, slow, "it comes back", func() bool {
		back = c.MustPop(t, p)
		return len(back.Messages) > 0
	})
	wantPopped(t, "what came back", back, "0")
	m := back.Messages[0]
	if m.Stored != "%RETRY%"+group+"+"+topic || m.Topic != topic || back.Ext["msgOffsetInfo"] != "2 0 0" {
		t.Errorf("it is stored in %s, shown in %s, %v", m.Stored, m.Topic, back.Frame)
	}
	wantCode(t, "ack", c.BatchAck(t, topic, m), wire.Success)
}

// TestPop_NoMoreThanTheThreshold: enablePopMessageThreshold keeps from a group what it would not get to.
func TestPop_NoMoreThanTheThreshold(t *testing.T) {
	t.Parallel()
	target := peer.StartTarget(t, map[string]string{"enablePopMessageThreshold": "true", "popInflightMessageThreshold": "2"})
	c := wire.Dial(t, target.BrokerAddr)
	topic, group := filled(t, c, 1, 5)
	p := wire.Pop{Group: group, Topic: topic, MaxMsgNums: 3}
	got := c.MustPop(t, p)
	wantPopped(t, "pop", got, "0", "1", "2")
	none := c.MustPop(t, p)
	wantPopped(t, "pop beyond the threshold", none)
	if none.Ext["restNum"] != "2" {
		t.Errorf("restNum %s, want 2", none.Ext["restNum"])
	}
	for _, m := range got.Messages[:2] {
		wantCode(t, "ack", c.Ack(t, m), wire.Success)
	}
	wantPopped(t, "pop below it again", c.MustPop(t, p), "3", "4")
}
