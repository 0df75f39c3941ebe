package processor_test

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"testing"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

func handleOf(text string) string { return base64.URLEncoding.EncodeToString([]byte(text)) }

// answer is the reply to a request, awaited when it is deferred.
func (l *sendLab) answer(code int32, fields ext, body string) *remoting.Command {
	l.t.Helper()
	c := &conn{}
	reply := request(l.t, l.routes, c, code, fields, body)
	for reply == nil {
		eventually(l.t, "the deferred reply", func() bool {
			if sent := c.take(); len(sent) == 1 {
				reply = &sent[0]
			}
			return reply != nil
		})
	}
	return reply
}

func TestSend_TimerGetsARecallHandle(t *testing.T) {
	t.Parallel()
	for _, sync := range []bool{false, true} {
		l := newSendLab(t, sync)
		send := func(props string) *remoting.Command {
			t.Helper()
			reply := l.answer(remoting.SendMessageV2, sendHeader("T", 3, props), "x")
			wantReply(t, reply, remoting.Success, "")
			return reply
		}
		at := clock.Real{}.NowMillis() + 60_000
		reply := send(properties("UNIQ_KEY", "K1", "TIMER_DELIVER_MS", strconv.FormatInt(at, 10)))
		want := handleOf(fmt.Sprintf("v1 T B %d K1", message.TimerOut(at, 1000)+1))
		if got := extOf(reply, "recallHandle"); got != want || extOf(reply, "queueId") != "3" {
			t.Errorf("handle %q of queue %s, want %q of queue 3", got, extOf(reply, "queueId"), want)
		}
		if v := l.stored(message.TopicTimer, 0, 0); string(v.Topic) != message.TopicTimer {
			t.Errorf("stored in %s", v.Topic)
		}
		for name, props := range map[string]string{
			"plain": properties("UNIQ_KEY", "K2"), "past": properties("TIMER_DELIVER_MS", "1"), "level": properties("DELAY", "1", "TIMER_DELAY_SEC", "9"),
		} {
			if got := extOf(send(props), "recallHandle"); got != "" {
				t.Errorf("%s: handle %q", name, got)
			}
		}
	}
}

func TestRecall(t *testing.T) {
	t.Parallel()
	for _, sync := range []bool{false, true} {
		l := newSendLab(t, sync)
		sent := l.answer(remoting.SendMessageV2, sendHeader("T", 3, properties("UNIQ_KEY", "K1", "TIMER_DELAY_SEC", "60")), "x")
		wantReply(t, sent, remoting.Success, "")
		target := l.stored(message.TopicTimer, 0, 0)
		for i := range 2 {
			reply := l.answer(remoting.RecallMessage,
				ext{"topic": "T", "recallHandle": extOf(sent, "recallHandle"), "producerGroup": "G"}, "")
			wantReply(t, reply, remoting.Success, "")
			if extOf(reply, "msgId") != "K1" || extOf(reply, "MSG_REGION") != "DefaultRegion" {
				t.Errorf("answer %q, %q", extOf(reply, "msgId"), extOf(reply, "MSG_REGION"))
			}
			cancel := l.stored(message.TopicTimer, 0, int64(1+i))
			out, _ := message.TimerOutOf(target.Properties)
			for key, want := range map[string]string{
				"TIMER_OUT_MS": strconv.FormatInt(out, 10), "TIMER_DELIVER_MS": strconv.FormatInt(out+1, 10), "REAL_TOPIC": "T",
				"TIMER_DEL_UNIQKEY": "K1", "UNIQ_KEY": "K1", "TAGS": "_RECALL_TAG_", "PGROUP": "G",
			} {
				if got, _ := message.PropertyGet(cancel.Properties, key); string(got) != want {
					t.Errorf("property %s is %q, want %q", key, got, want)
				}
			}
			if string(cancel.Body) != "0" {
				t.Errorf("body %q", cancel.Body)
			}
		}
	}
}

func TestRecall_Refusals(t *testing.T) {
	t.Parallel()
	l := newSendLab(t, false)
	for _, name := range []string{"T", "U"} {
		wantReply(t, request(t, l.routes, &conn{}, remoting.SendMessageV2, sendHeader(name, 0, ""), "x"), remoting.Success, "")
	}
	soon, far := clock.Real{}.NowMillis()+60_000, clock.Real{}.NowMillis()+4*86_400_000
	for name, c := range map[string]struct {
		topic, handle string
		code          int32
		remark        string
	}{
		"unknown topic":    {"NOPE", "x", remoting.TopicNotExist, "recall failed, the topic[NOPE] not exist"},
		"no handle":        {"T", "", remoting.IllegalOperation, "recall handle is invalid"},
		"no base64":        {"T", "bogus!", remoting.IllegalOperation, "recall handle is invalid"},
		"another version":  {"T", handleOf(fmt.Sprint("v2 T B ", soon, " K")), remoting.IllegalOperation, "recall handle is invalid"},
		"of another topic": {"U", handleOf(fmt.Sprint("v1 T B ", soon, " K")), remoting.IllegalOperation, "recall failed, topic not match"},
		"another broker":   {"T", handleOf(fmt.Sprint("v1 T X ", soon, " K")), remoting.IllegalOperation, "recall failed, broker service not available"},
		"past":             {"T", handleOf("v1 T B 1 K"), remoting.IllegalOperation, "recall failed, timestamp invalid"},
		"no instant":       {"T", handleOf("v1 T B x K"), remoting.IllegalOperation, "recall failed, timestamp invalid"},
		"too far":          {"T", handleOf(fmt.Sprint("v1 T B ", far, " K")), remoting.IllegalOperation, "recall failed, timestamp invalid"},
	} {
		reply := request(t, l.routes, &conn{}, remoting.RecallMessage, ext{"topic": c.topic, "recallHandle": c.handle}, "")
		if reply.Code != c.code || reply.Remark != c.remark || extOf(reply, "MSG_REGION") == "" {
			t.Errorf("%s: code %d, %q, want %d, %q", name, reply.Code, reply.Remark, c.code, c.remark)
		}
	}
	l.readOnly = true
	wantReply(t, request(t, l.routes, &conn{}, remoting.RecallMessage, ext{"topic": "T"}, ""), remoting.ServiceNotAvailable, "")
	l.noRecall = true
	wantReply(t, request(t, l.routes, &conn{}, remoting.RecallMessage, ext{"topic": "T"}, ""), remoting.NoPermission, "recall failed, operation is forbidden")
	if q := l.store.Queue([]byte(message.TopicTimer), 0); q != nil && q.Max() > 0 {
		t.Error("a refused recall is stored")
	}
}
