package cases

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// timerIllegal is what a broker says to an instant that it does not take; %d is the limit in ms.
const timerIllegal = "timer message illegal, the delay time should not be bigger than the max delay %dms; or if set del msg, the delay time should be bigger than the current time"

// timerOf sends a message with a timer, whatever the answer.
func timerOf(t *testing.T, c *wire.Conn, topic, body string, properties ...string) *wire.Frame {
	t.Helper()
	return c.Send(t, wire.Send{Topic: topic, Body: []byte(body), Properties: wire.Properties(properties...)})
}

// mustWait fails the test unless the answer is that of a message that waits for its instant.
func mustWait(t *testing.T, what string, answer *wire.Frame) {
	t.Helper()
	if answer.Code != wire.Success || answer.Ext["recallHandle"] == "" {
		t.Fatalf("%s: got %v, want code 0 and a recall handle", what, answer)
	}
}

// TestTimer_LimitIsInclusive is case BR-06: three days are the limit, and a message that is taken
// can be recalled.
func TestTimer_LimitIsInclusive(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic := suite.Name(t, "topic")
	c.MustCreateTopic(t, topic, 1)
	for _, tc := range []struct{ name, value string }{
		{"TIMER_DELAY_SEC", "259199"}, {"TIMER_DELAY_SEC", "259200"}, {"TIMER_DELAY_MS", "259200000"}, {"TIMER_DELAY_MS", "500000"},
	} {
		mustWait(t, tc.name+"="+tc.value, timerOf(t, c, topic, "later", tc.name, tc.value))
	}
	farther := strconv.FormatInt(time.Now().Add(73*time.Hour).UnixMilli(), 10)
	for _, tc := range []struct{ name, value string }{
		{"TIMER_DELAY_SEC", "259201"}, {"TIMER_DELAY_MS", "259200001"}, {"TIMER_DELIVER_MS", farther}, {"TIMER_DELIVER_MS", "9223372036854775807"},
	} {
		answer := timerOf(t, c, topic, "never", tc.name, tc.value)
		if want := fmt.Sprintf(timerIllegal, 259200000); answer.Code != wire.MessageIllegal || answer.Remark != want {
			t.Errorf("%s=%s: got %v, want code 13, %q", tc.name, tc.value, answer, want)
		}
	}
	if n := c.MaxOffset(t, topic, 0); n != 0 {
		t.Errorf("%d messages are visible, want none", n)
	}
}

// TestTimer_Overflow is case BR-06 too: what is too long in ms is too long.
func TestTimer_Overflow(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	answer := timerOf(t, c, suite.Name(t, "topic"), "never", "TIMER_DELAY_SEC", "9223372036854775807")
	suite.Differs(t, "cases/timer-delay-overflow", answer.Code == wire.MessageIllegal, answer.String())
}

// TestTimer_PastIsDeliveredAtOnce is case BR-07: a client's clock that is slow loses nothing.
func TestTimer_PastIsDeliveredAtOnce(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, value string }{
		{"TIMER_DELAY_SEC", "0"}, {"TIMER_DELAY_SEC", "-5"}, {"TIMER_DELIVER_MS", "1"}, {"TIMER_DELIVER_MS", "-1"}, {"TIMER_DELIVER_MS", ""},
	} {
		t.Run(tc.name+tc.value, func(t *testing.T) {
			t.Parallel()
			c := dialBroker(t)
			topic := suite.Name(t, "topic")
			answer := timerOf(t, c, topic, "now", tc.name, tc.value)
			wantCode(t, "send", answer, wire.Success)
			if handle := answer.Ext["recallHandle"]; handle != "" {
				t.Errorf("a message that does not wait has the recall handle %q", handle)
			}
			got := c.MustPull(t, wire.Pull{Group: suite.Name(t, "group"), Topic: topic, Suspend: wire.Timeout})
			if len(got.Messages) != 1 || string(got.Messages[0].Body) != "now" {
				t.Fatalf("pulled %v, want the message", got.Frame)
			}
			if kept := got.Messages[0].Properties[tc.name]; kept != tc.value {
				t.Errorf("%s is %q on the message, want it kept", tc.name, kept)
			}
		})
	}
}

// TestTimer_NotANumber_IsRefused is case BR-08.
func TestTimer_NotANumber_IsRefused(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic := suite.Name(t, "topic")
	c.MustCreateTopic(t, topic, 1)
	for _, tc := range []struct{ name, value string }{
		{"TIMER_DELAY_SEC", "abc"}, {"TIMER_DELIVER_MS", "12.5"}, {"TIMER_DELAY_MS", " 5"}, {"TIMER_DELAY_SEC", "9223372036854775808"},
	} {
		answer := timerOf(t, c, topic, "never", tc.name, tc.value)
		wantCode(t, tc.name+"="+tc.value, answer, wire.MessageIllegal)
	}
	if sent := c.MustSend(t, wire.Send{Topic: topic, Body: []byte("next")}); sent.QueueOffset != 0 {
		t.Errorf("the next message has offset %d, want 0", sent.QueueOffset)
	}
}

// TestTimer_LimitOfThirtyDays is case BR-09: the limit in ms does not fit 32 bits.
func TestTimer_LimitOfThirtyDays(t *testing.T) {
	t.Parallel()
	target := peer.StartTarget(t, map[string]string{"timerMaxDelaySec": "2592000"})
	c := wire.Dial(t, target.BrokerAddr)
	topic := suite.Name(t, "topic")
	mustWait(t, "ten days", timerOf(t, c, topic, "later", "TIMER_DELAY_SEC", "864000"))
	answer := timerOf(t, c, topic, "never", "TIMER_DELAY_SEC", "2592001")
	if want := fmt.Sprintf(timerIllegal, 2592000000); answer.Code != wire.MessageIllegal || answer.Remark != want {
		t.Errorf("30 days and a second: got %v, want code 13, %q", answer, want)
	}
}

// TestTimer_LevelWins is case BR-10: a message with both is delivered once, after its level's delay.
func TestTimer_LevelWins(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic := suite.Name(t, "topic")
	c.MustCreateTopic(t, topic, 1)
	begin := time.Now()
	answer := timerOf(t, c, topic, "once", "DELAY", "1", "TIMER_DELAY_SEC", "3600")
	wantCode(t, "send", answer, wire.Success)
	if handle := answer.Ext["recallHandle"]; handle != "" {
		t.Errorf("a message of a level has the recall handle %q", handle)
	}
	got := c.MustPull(t, wire.Pull{Group: suite.Name(t, "group"), Topic: topic, Suspend: wire.Timeout})
	if len(got.Messages) != 1 || string(got.Messages[0].Body) != "once" {
		t.Fatalf("pulled %v, want the message", got.Frame)
	}
	if waited := time.Since(begin); waited < time.Second {
		t.Errorf("delivered after %v, before its level's second", waited)
	}
	if sec, kept := got.Messages[0].Properties["TIMER_DELAY_SEC"]; kept {
		t.Errorf("TIMER_DELAY_SEC=%s is still on the message", sec)
	}
}

// TestBatchWithDelay_IsRefused is case BR-11: a delay inside a batch was ignored.
func TestBatchWithDelay_IsRefused(t *testing.T) {
	t.Parallel()
	for _, property := range []string{"DELAY=1", "TIMER_DELAY_SEC=3"} {
		name, value, _ := strings.Cut(property, "=")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dialBroker(t)
			topic := suite.Name(t, "topic")
			c.MustCreateTopic(t, topic, 1)
			item := func(body string) wire.BatchItem {
				return wire.BatchItem{Body: []byte(body), Properties: wire.Properties(name, value)}
			}
			answer := c.SendBatch(t, wire.Send{Topic: topic}, item("a"), item("b"))
			visible := c.MaxOffset(t, topic, 0)
			suite.Differs(t, "cases/batch-with-delay", answer.Code == wire.MessageIllegal && answer.Remark != "" && visible == 0,
				fmt.Sprintf("code %d, %d messages visible at once", answer.Code, visible))
		})
	}
}

// TestTimerWheelOff_RefusesTimers is case BR-12: without timers a message with one must not come at
// once.
func TestTimerWheelOff_RefusesTimers(t *testing.T) {
	t.Parallel()
	target := peer.StartTarget(t, map[string]string{"timerWheelEnable": "false"})
	c := wire.Dial(t, target.BrokerAddr)
	topic := suite.Name(t, "topic")
	c.MustCreateTopic(t, topic, 1)
	const want = "accurate timer message is not enabled, timerWheelEnable is false"
	for _, value := range []string{"60", "-60"} {
		if answer := timerOf(t, c, topic, "never", "TIMER_DELAY_SEC", value); answer.Code != wire.SystemError || answer.Remark != want {
			t.Errorf("TIMER_DELAY_SEC=%s: got %v, want code 1, %q", value, answer, want)
		}
	}
	if n := c.MaxOffset(t, topic, 0); n != 0 {
		t.Errorf("%d messages are visible, want none", n)
	}
	for code, want := range map[int]string{wire.GetTimerCheckPoint: "The checkpoint is null", wire.GetTimerMetrics: "The timer message store is null"} {
		if answer := c.Call(t, code, nil, nil); answer.Code != wire.SystemError || answer.Remark != want {
			t.Errorf("code %d: got %v, want code 1, %q", code, answer, want)
		}
	}
	level := c.MustSend(t, wire.Send{Topic: topic, Body: []byte("of a level"), Properties: wire.Properties("DELAY", "1")})
	if stored, _ := c.View(t, level.CommitLogOffset); stored.Topic != wire.ScheduleTopic {
		t.Errorf("a delay level is stored in %s", stored.Topic)
	}
}

// TestLightQueues_AreRefused is case BR-15: a delayed message to light queues was dispatched at
// once.
func TestLightQueues_AreRefused(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	for _, delay := range [][]string{{"DELAY", "1"}, {"TIMER_DELAY_SEC", "1"}} {
		answer := timerOf(t, c, suite.Name(t, "topic"), "never", append(delay, "INNER_MULTI_DISPATCH", "%LMQ%q1")...)
		suite.Differs(t, "cases/light-queues", answer.Code == wire.SystemError && strings.Contains(answer.Remark, "light queues"), answer.String())
	}
}

// TestTimer_StartDeliverTime is the cloud's property behind its key.
func TestTimer_StartDeliverTime(t *testing.T) {
	t.Parallel()
	if peer.TargetKind() == peer.Real {
		t.Skip("RocketMQ 5.5.0 has no such key")
	}
	target := peer.StartTarget(t, map[string]string{"startDeliverTimeEnable": "true"})
	on, off := wire.Dial(t, target.BrokerAddr), dialBroker(t)
	topic := suite.Name(t, "topic")
	on.MustCreateTopic(t, topic, 1)
	off.MustCreateTopic(t, topic, 1)
	at := strconv.FormatInt(time.Now().Add(time.Hour).UnixMilli(), 10)
	mustWait(t, "an instant", timerOf(t, on, topic, "later", "__STARTDELIVERTIME", at))
	mustWait(t, "an instant and a delay", timerOf(t, on, topic, "later", "__STARTDELIVERTIME", "1", "TIMER_DELAY_SEC", "3600"))
	if answer := timerOf(t, on, topic, "never", "__STARTDELIVERTIME", "soon"); answer.Code != wire.MessageIllegal {
		t.Errorf("no number: got %v, want code 13", answer)
	}
	for name, answer := range map[string]*wire.Frame{
		"a past instant": timerOf(t, on, topic, "at once", "__STARTDELIVERTIME", "1"),
		"the key is off": timerOf(t, off, topic, "at once", "__STARTDELIVERTIME", at),
	} {
		if answer.Code != wire.Success || answer.Ext["recallHandle"] != "" {
			t.Errorf("%s: got %v, want code 0 and no recall handle", name, answer)
		}
	}
	suite.WithLead(t, 2500*time.Millisecond, func(lead time.Duration) bool {
		soon, at := suite.Name(t, "soon"), time.Now().Add(lead)
		on.MustCreateTopic(t, soon, 1)
		if !waits(t, "soon", timerOf(t, on, soon, "soon", "__STARTDELIVERTIME", strconv.FormatInt(at.UnixMilli(), 10)), at) {
			return false
		}
		suite.Eventually(t, slow, "the delivery", func() bool { return on.MaxOffset(t, soon, 0) == 1 })
		return true
	})
	if n := on.MaxOffset(t, topic, 0); n != 1 {
		t.Errorf("%d messages where the key is on, want the one at once", n)
	}
	if n := off.MaxOffset(t, topic, 0); n != 1 {
		t.Errorf("%d messages where the key is off, want 1", n)
	}
}

// TestTimer_CongestedSecond refuses more than twice timerCongestNumEachSlot messages of one second.
func TestTimer_CongestedSecond(t *testing.T) {
	t.Parallel()
	target := peer.StartTarget(t, map[string]string{"timerCongestNumEachSlot": "2"})
	c := wire.Dial(t, target.BrokerAddr)
	topic := suite.Name(t, "topic")
	at := strconv.FormatInt(time.Now().Add(time.Hour).UnixMilli(), 10)
	const want = "timer message is under flow control, max num limit is 4 or the current value is greater than 2 and less than 4, trigger random flow control"
	taken, refused := 0, 0
	for i := range 8 {
		answer := timerOf(t, c, topic, fmt.Sprint(i), "TIMER_DELIVER_MS", at)
		switch {
		case answer.Code == wire.Success:
			taken++
		case answer.Code == wire.SystemError && answer.Remark == want:
			refused++
		default:
			t.Errorf("message %d: got %v", i, answer)
		}
		if peer.TargetKind() == peer.Real {
			time.Sleep(300 * time.Millisecond) // it counts what is in its wheel
		}
	}
	if taken < 2 || refused < 4 {
		t.Errorf("%d taken and %d refused, want at least the limit, and none beyond twice the limit", taken, refused)
	}
}

// TestTimer_IsWhereToolsLook tells where and how a message waits.
func TestTimer_IsWhereToolsLook(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic := suite.Name(t, "topic")
	at := time.Now().Add(time.Hour).Truncate(time.Second).UnixMilli()
	for _, tc := range []struct{ due, out int64 }{{at, at - 1000}, {at + 1, at}, {at + 999, at}} {
		deliver := strconv.FormatInt(tc.due, 10)
		sent := c.MustSend(t, wire.Send{Topic: topic, QueueID: 2, Body: []byte("later"), Properties: wire.Properties(
			"TIMER_DELIVER_MS", deliver, "TAGS", "A")})
		if sent.QueueID != 2 {
			t.Errorf("the answer names queue %d, want the real queue 2", sent.QueueID)
		}
		stored, answer := c.View(t, sent.CommitLogOffset)
		wantCode(t, "view", answer, wire.Success)
		if stored.Topic != wire.TimerTopic || stored.QueueID != 0 || stored.QueueOffset != sent.QueueOffset {
			t.Errorf("stored at %s@%d:%d, answered %d", stored.Topic, stored.QueueID, stored.QueueOffset, sent.QueueOffset)
		}
		for name, want := range map[string]string{
			"TIMER_OUT_MS": strconv.FormatInt(tc.out, 10), "TIMER_DELIVER_MS": deliver, "REAL_TOPIC": topic, "REAL_QID": "2", "TAGS": "A",
		} {
			if got := stored.Properties[name]; got != want {
				t.Errorf("property %s is %q, want %q", name, got, want)
			}
		}
	}
	if n := c.MaxOffset(t, topic, 2); n != 0 {
		t.Errorf("the real queue holds %d messages, want none before the time", n)
	}
}

// TestTimerTopic_IsClosed to clients: a foreign record there stopped every timer.
func TestTimerTopic_IsClosed(t *testing.T) {
	t.Parallel()
	if peer.TargetKind() == peer.Real {
		target := peer.StartTarget(t, nil) // its timers stop
		answer := timerOf(t, wire.Dial(t, target.BrokerAddr), wire.TimerTopic, "poison")
		suite.Differs(t, "cases/timer-topic-closed", answer.Code == wire.NoPermission, answer.String())
		return
	}
	answer := timerOf(t, dialBroker(t), wire.TimerTopic, "poison")
	suite.Differs(t, "cases/timer-topic-closed", answer.Code == wire.NoPermission, answer.String())
}
