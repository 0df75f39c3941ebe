package cases

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// recall asks for a message not to be delivered.
func recall(t *testing.T, c *wire.Conn, topic, handle string) *wire.Frame {
	t.Helper()
	return c.Call(t, wire.RecallMessage, map[string]string{"topic": topic, "recallHandle": handle, "producerGroup": "recall"}, nil)
}

func handleOf(text string) string { return base64.URLEncoding.EncodeToString([]byte(text)) }

// TestRecall_Default tells whether an untouched broker takes recalls.
func TestRecall_Default(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic := suite.Name(t, "topic")
	answer := timerOf(t, c, topic, "later", "TIMER_DELAY_SEC", "3600")
	mustWait(t, "send", answer)
	recalled := recall(t, c, topic, answer.Ext["recallHandle"])
	suite.Differs(t, "cases/recall-by-default", recalled.Code == wire.Success, recalled.String())
}

// TestRecall_Off has the handle all the same.
func TestRecall_Off(t *testing.T) {
	t.Parallel()
	target := peer.StartTarget(t, map[string]string{"recallMessageEnable": "false"})
	c := wire.Dial(t, target.BrokerAddr)
	topic := suite.Name(t, "topic")
	answer := timerOf(t, c, topic, "later", "TIMER_DELAY_SEC", "3600")
	mustWait(t, "send", answer)
	if got := recall(t, c, topic, answer.Ext["recallHandle"]); got.Code != wire.NoPermission || got.Remark != "recall failed, operation is forbidden" {
		t.Errorf("got %v, want code 16", got)
	}
}

// TestRecall is about handles, about cancels by property, and about which messages do not come.
func TestRecall(t *testing.T) {
	t.Parallel()
	target := peer.StartTarget(t, map[string]string{"recallMessageEnable": "true"})
	c := wire.Dial(t, target.BrokerAddr)
	topic, other := twoTopics(t, c)
	t.Run("handle", func(t *testing.T) {
		answer := timerOf(t, c, topic, "later", "TIMER_DELAY_SEC", "3600", "UNIQ_KEY", "KEY1")
		stored, _ := c.View(t, offsetOf(t, answer))
		out, err := strconv.ParseInt(stored.Properties["TIMER_OUT_MS"], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if want := handleOf(fmt.Sprintf("v1 %s broker-a %d KEY1", topic, out+1)); answer.Ext["recallHandle"] != want {
			t.Errorf("the handle is %q, want %q", answer.Ext["recallHandle"], want)
		}
		for _, what := range []string{"recall", "second recall"} {
			got := recall(t, c, topic, answer.Ext["recallHandle"])
			if got.Code != wire.Success || got.Ext["msgId"] != "KEY1" {
				t.Errorf("%s: got %v, want code 0 and the message's key", what, got)
			}
		}
		if got := recall(t, c, other, answer.Ext["recallHandle"]); got.Code != wire.IllegalOperation || got.Remark != "recall failed, topic not match" {
			t.Errorf("for another topic: got %v", got)
		}
	})
	t.Run("refusals", func(t *testing.T) { refusedRecalls(t, c, topic) })
	t.Run("delivery", func(t *testing.T) {
		suite.WithLead(t, 4*time.Second, func(lead time.Duration) bool {
			topic, other := twoTopics(t, c)
			behind, inTime := sendAndCancel(t, c, topic, other, lead)
			if inTime {
				wantRecalled(t, c, topic, other, behind)
			}
			return inTime
		})
	})
}

func twoTopics(t *testing.T, c *wire.Conn) (topic, other string) {
	t.Helper()
	topic, other = suite.Name(t, "topic"), suite.Name(t, "other")
	for _, name := range []string{topic, other} {
		c.MustCreateTopic(t, name, 1)
	}
	return topic, other
}

func offsetOf(t *testing.T, answer *wire.Frame) int64 {
	t.Helper()
	_, offset, err := wire.ParseMsgID(answer.Ext["msgId"])
	if err != nil {
		t.Fatal(err)
	}
	return offset
}

func refusedRecalls(t *testing.T, c *wire.Conn, topic string) {
	soon, far := time.Now().Add(time.Minute).UnixMilli(), time.Now().Add(96*time.Hour).UnixMilli()
	for name, tc := range map[string]struct {
		topic, handle string
		code          int
		remark        string
	}{
		"unknown topic":   {"NOPE", handleOf("x"), wire.TopicNotExist, "recall failed, the topic[NOPE] not exist"},
		"no handle":       {topic, "", wire.IllegalOperation, "recall handle is invalid"},
		"no base64":       {topic, "bogus", wire.IllegalOperation, "recall handle is invalid"},
		"another version": {topic, handleOf(fmt.Sprintf("v2 %s broker-a %d K", topic, soon)), wire.IllegalOperation, "recall handle is invalid"},
		"another broker":  {topic, handleOf(fmt.Sprintf("v1 %s broker-x %d K", topic, soon)), wire.IllegalOperation, "recall failed, broker service not available"},
		"past":            {topic, handleOf(fmt.Sprintf("v1 %s broker-a 1 K", topic)), wire.IllegalOperation, "recall failed, timestamp invalid"},
		"no instant":      {topic, handleOf(fmt.Sprintf("v1 %s broker-a x K", topic)), wire.IllegalOperation, "recall failed, timestamp invalid"},
		"too far":         {topic, handleOf(fmt.Sprintf("v1 %s broker-a %d K", topic, far)), wire.IllegalOperation, "recall failed, timestamp invalid"},
	} {
		if got := recall(t, c, tc.topic, tc.handle); got.Code != tc.code || got.Remark != tc.remark {
			t.Errorf("%s: got %v, want code %d, %q", name, got, tc.code, tc.remark)
		}
	}
	late := timerOf(t, c, topic, "never", "TIMER_DELIVER_MS", "1", "TIMER_DEL_UNIQKEY", "K")
	wantCode(t, "a cancel that is late", late, wire.MessageIllegal)
}

// sendAndCancel sends messages of one second and cancels some of them in every way. It returns the body of one
// that is due behind all; false when the second came meanwhile.
func sendAndCancel(t *testing.T, c *wire.Conn, topic, other string, lead time.Duration) (behind string, inTime bool) {
	t.Helper()
	second := time.Now().Add(lead).Truncate(time.Second)
	at := strconv.FormatInt(second.UnixMilli()+500, 10)
	inTime = true
	timer := func(body, to string, properties ...string) (handle string) {
		answer := timerOf(t, c, to, body, append(properties, "TIMER_DELIVER_MS", at)...)
		if inTime = inTime && time.Until(second) > time.Second; inTime {
			wantCode(t, body, answer, wire.Success)
		}
		return answer.Ext["recallHandle"]
	}
	send := func(key string) (handle string) {
		if handle = timer(key, topic, "UNIQ_KEY", key); inTime && handle == "" {
			t.Errorf("%s has no recall handle", key)
		}
		return handle
	}
	cancel := func(topic, key string) { timer("cancel", topic, "TIMER_DEL_UNIQKEY", key) }
	send("stays")
	recalled := recall(t, c, topic, send("recalled"))
	send("cancelled")
	cancel(topic, "cancelled")
	cancel(topic, "cancelled first")
	send("cancelled first")
	send("with topic")
	cancel(topic, topic+"+with topic")
	send("of another topic")
	cancel(other, "of another topic")
	if inTime {
		wantCode(t, "recall", recalled, wire.Success)
		wantCode(t, "a message behind all", timerOf(t, c, topic, "behind", "TIMER_DELIVER_MS", strconv.FormatInt(second.UnixMilli()+3000, 10)), wire.Success)
	}
	return "behind", inTime
}

// wantRecalled looks at what comes.
func wantRecalled(t *testing.T, c *wire.Conn, topic, other, behind string) {
	t.Helper()
	var got []string
	suite.Eventually(t, slow, "the message behind all", func() bool {
		got = bodies(c.PullAll(t, wire.Pull{Group: suite.Name(t, "group"), Topic: topic}))
		return len(got) > 0 && got[len(got)-1] == behind
	})
	came := make(map[string]bool)
	for _, body := range got {
		if came[body] {
			t.Errorf("%q came twice", body)
		}
		came[body] = true
	}
	for body, want := range map[string]bool{"stays": true, "recalled": false, "cancelled": false, "cancelled first": false, "cancel": false} {
		if came[body] != want {
			t.Errorf("%q delivered: %v, want %v", body, came[body], want)
		}
	}
	suite.Differs(t, "cases/cancel-with-topic", !came["with topic"], fmt.Sprintf("delivered: %v", came["with topic"]))
	suite.Differs(t, "cases/cancel-within-the-topic", came["of another topic"], fmt.Sprintf("delivered: %v", came["of another topic"]))
	if n := c.MaxOffset(t, other, 0); n != 0 {
		t.Errorf("the other topic holds %d messages", n)
	}
}
