package processor_test

import (
	"bytes"
	"encoding/base64"
	"maps"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/broker/processor"
	"github.com/wheelmq/wheelmq/remoting"
)

// poppedHandle is the handle of a message of the first batch in a pop's answer.
func poppedHandle(reply *remoting.Command, offset string) ext {
	start := strings.Fields(field(reply, "startOffsetInfo"))
	return ext{
		"queueId": start[1], "offset": offset, "extraInfo": strings.Join([]string{
			start[2], field(reply, "popTime"), field(reply, "invisibleTime"), field(reply, "reviveQid"), start[0], "broker-a", start[1], offset,
		}, " "),
	}
}

func TestPopAck_EndsTheFlight(t *testing.T) {
	t.Parallel()
	for _, sync := range []bool{false, true} {
		l := newPopLab(t, func(o *processor.PopOptions) { o.SyncFlush = sync })
		for _, body := range []string{"a", "b", "c"} {
			l.put("T", 1, "", body)
		}
		c := &conn{id: 1}
		done := func(code int32, fields ext, body string) *remoting.Command {
			t.Helper()
			all := ext{"consumerGroup": "g", "topic": "T"}
			maps.Copy(all, fields)
			if reply := request(t, l.routes, c, code, all, body); reply != nil {
				return reply
			}
			var sent []remoting.Command
			eventually(t, "the answer", func() bool { sent = append(sent, c.take()...); return len(sent) == 1 })
			return &sent[0]
		}
		got := l.pop(nil)
		wantReply(t, done(remoting.AckMessage, poppedHandle(got, "0"), ""), remoting.Success, "")
		batch := `{"acks":[{"b":"Ag==","c":"g","it":60000,"pt":` + field(got, "popTime") + `,"q":1,"r":"0","rq":0,"so":0,"t":"T"}],"brokerName":"broker-a"}`
		wantReply(t, done(remoting.BatchAckMessage, nil, batch), remoting.Success, "")
		if n := l.pops.InFlight("g", "T"); n != 1 {
			t.Errorf("sync %v: %d are in flight, want 1", sync, n)
		}
		change := poppedHandle(got, "2")
		change["invisibleTime"] = "1000"
		reply := done(remoting.ChangeMessageInvisibleTime, change, "")
		wantReply(t, reply, remoting.Success, "")
		if field(reply, "invisibleTime") != "1000" || field(reply, "reviveQid") != field(got, "reviveQid") {
			t.Errorf("sync %v: changed: %v", sync, reply.Ext.All())
		}
	}
}

func TestPopAck_Refused(t *testing.T) {
	t.Parallel()
	l := newPopLab(t)
	l.put("T", 0, "", "a")
	const good = "0 1796003290480 15000 4 0 broker-a 0 0"
	for _, code := range []int32{remoting.AckMessage, remoting.ChangeMessageInvisibleTime} {
		for _, c := range []struct {
			fields ext
			want   int32
			remark string
		}{
			{ext{"topic": "X"}, remoting.TopicNotExist, ""},
			{ext{"queueId": "2"}, remoting.MessageIllegal, "queueId[2] is illegal, topic:[T] topicConfig.readQueueNums:[2] consumer:[/127.0.0.1:4000]"},
			{ext{"queueId": "-1"}, remoting.MessageIllegal, ""},
			{ext{"offset": "-1"}, remoting.NoMessage, "offset is illegal, key:T@0, commit:-1, store:0~1"},
			{ext{"offset": "2"}, remoting.NoMessage, ""},
			{ext{"extraInfo": ""}, remoting.SystemError, ""},
			{ext{"extraInfo": "nonsense"}, remoting.SystemError, `the handle "nonsense" is damaged: its field 1 is no number or the last one`},
			{ext{"extraInfo": "0 1 2 3 0"}, remoting.SystemError, `the handle "0 1 2 3 0" is damaged: it has no broker's name`},
			{ext{"extraInfo": "0 1 x 3 0 broker-a"}, remoting.SystemError, ""},
			{ext{}, remoting.Success, ""},
		} {
			fields := ext{"consumerGroup": "g", "topic": "T", "queueId": "0", "offset": "0", "extraInfo": good, "invisibleTime": "1000"}
			maps.Copy(fields, c.fields)
			wantReply(t, request(t, l.routes, &conn{}, code, fields, ""), c.want, c.remark)
		}
	}
	for body, want := range map[string]int32{
		"": remoting.NoMessage, "{}": remoting.NoMessage, "{": remoting.SystemError, `{"acks":[{"r":"9"}]}`: remoting.SystemError,
		`{"acks":[{"r":"1","t":"X","c":"g","b":"/w=="}]}`: remoting.Success,
	} {
		wantReply(t, request(t, l.routes, &conn{}, remoting.BatchAckMessage, nil, body), want, "")
	}
}

// TestPopAck_ABatchOfAnySize: far more bits than the queue has messages, of which there are many.
func TestPopAck_ABatchOfAnySize(t *testing.T) {
	t.Parallel()
	l := newPopLab(t)
	const messages = 700
	for range messages {
		l.put("T", 0, "", "a")
	}
	var popTime string
	for range (messages + 31) / 32 {
		popTime = field(l.pop(nil), "popTime")
	}
	if n := l.pops.InFlight("g", "T"); n != messages {
		t.Fatalf("%d are in flight", n)
	}
	bits := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{0xFF}, 1<<20))
	batch := `{"acks":[{"b":"` + bits + `","c":"g","it":60000,"pt":` + popTime + `,"q":0,"r":"0","rq":0,"so":1,"t":"T"}],"brokerName":"broker-a"}`
	wantReply(t, request(t, l.routes, &conn{}, remoting.BatchAckMessage, nil, batch), remoting.Success, "")
	if n := l.pops.InFlight("g", "T"); n != 1 {
		t.Errorf("%d are in flight, want the first one", n)
	}
}

// TestPopAck_ServesWithoutAllocating holds acknowledgements to that: there is one for each message.
func TestPopAck_ServesWithoutAllocating(t *testing.T) {
	l := newPopLab(t)
	l.put("T", 0, "", "a")
	got := l.pop(nil)
	router := remoting.NewRouter(l.routes, remoting.RouterOptions{Log: quiet()})
	var ex remoting.Exchange
	ex.Req.Code = remoting.AckMessage
	ex.Req.Ext.Set("consumerGroup", "g")
	ex.Req.Ext.Set("topic", "T")
	for name, value := range poppedHandle(got, "0") {
		ex.Req.Ext.Set(name, value)
	}
	c := &conn{}
	if n := testing.AllocsPerRun(100, func() {
		ex.Begin(c)
		router.Serve(&ex)
	}); n > 0 {
		t.Errorf("an acknowledgement allocates %v times", n)
	}
	if ex.Reply.Code != remoting.Success {
		t.Errorf("code %d %s", ex.Reply.Code, ex.Reply.Remark)
	}
}
