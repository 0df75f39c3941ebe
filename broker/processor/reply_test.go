package processor_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/broker/client"
	"github.com/wheelmq/wheelmq/broker/processor"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/remoting"
)

// producing is the connection of a client that can be asked.
type producing struct {
	conn
	asked  chan *remoting.Command
	answer func() (*remoting.Command, error)
}

func (p *producing) Call(_ context.Context, code int32, ext *remoting.ExtWriter, body []byte) (*remoting.Command, error) {
	cmd := new(remoting.Command)
	if err := remoting.Decode(remoting.AppendRequest(nil, code, 1, 0, ext, body), cmd); err != nil {
		return nil, err
	}
	p.asked <- cmd
	return p.answer()
}

// replyLab is a sendLab with request-reply, and one requester "me".
type replyLab struct {
	*sendLab
	me      *producing
	clients *client.Registry
}

func newReplyLab(t *testing.T, sync, stored bool) *replyLab {
	t.Helper()
	l := &replyLab{sendLab: newSendLab(t, sync), me: &producing{asked: make(chan *remoting.Command, 1)}}
	l.me.answer = func() (*remoting.Command, error) { return &remoting.Command{}, nil }
	clients, err := client.New(client.Options{Wire: clock.Real{}, Log: quiet()})
	check(t, err)
	t.Cleanup(func() { check(t, clients.Close()) })
	clients.Heartbeat(l.me, &client.Beat{ClientID: "me", Producers: []string{"p", "q"}})
	l.clients, l.opts.Requesters = clients, clients
	send := processor.NewSend(l.opts)
	l.routes = append(slices.DeleteFunc(l.routes, func(r remoting.Route) bool { return r.Code == remoting.SendMessageV2 }), send.Routes()[1])
	l.routes = append(l.routes, (&processor.Reply{
		Send: send, Clients: clients, Stored: func() bool { return stored }, Time: clock.Real{}, Log: quiet(),
	}).Routes()...)
	return l
}

// reply sends one and waits for what the consumer is told.
func (l *replyLab) reply(t *testing.T, props, body string) remoting.Command {
	t.Helper()
	c := &conn{}
	if now := request(t, l.routes, c, remoting.SendReplyMessageV2, sendHeader("C_REPLY_TOPIC", 0, props), body); now != nil {
		return *now
	}
	var sent []remoting.Command
	eventually(t, "the answer", func() bool { sent = append(sent, c.take()...); return len(sent) > 0 })
	return sent[0]
}

func (l *replyLab) storedReplies() int64 {
	if q := l.store.Queue([]byte("C_REPLY_TOPIC"), 0); q != nil {
		return q.Max()
	}
	return 0
}

func TestReply(t *testing.T) {
	t.Parallel()
	for _, sync := range []bool{false, true} {
		l := newReplyLab(t, sync, true)
		got := l.reply(t, properties("REPLY_TO_CLIENT", "me", "CORRELATION_ID", "c"), "answer")
		wantReply(t, &got, remoting.Success, "")
		push := <-l.me.asked
		if push.Code != remoting.PushReplyMessageToClient || string(push.Body) != "answer" {
			t.Errorf("pushed: code %d, body %q", push.Code, push.Body)
		}
		if v := l.stored("C_REPLY_TOPIC", 0, 0); string(v.Body) != "answer" || strings.Contains(string(v.Properties), "PUSH_REPLY_TIME") {
			t.Errorf("stored: %q with %q", v.Body, v.Properties)
		}
		if id := extOf(&got, "msgId"); len(id) != 32 || extOf(&got, "queueOffset") != "0" {
			t.Errorf("msgId %s, offset %s", id, extOf(&got, "queueOffset"))
		}
	}
}

// TestReply_BeforeTheHeartbeat: the request told where its sender is.
func TestReply_BeforeTheHeartbeat(t *testing.T) {
	t.Parallel()
	l := newReplyLab(t, false, true)
	early := &producing{asked: make(chan *remoting.Command, 1), answer: l.me.answer, conn: conn{id: 8}}
	ask := func(c remoting.Conn) {
		var ex remoting.Exchange
		ex.Begin(c)
		ex.Req.Code, ex.Req.Body = remoting.SendMessageV2, []byte("x")
		for key, value := range sendHeader("T", 0, properties("REPLY_TO_CLIENT", "early", "CORRELATION_ID", "c")) {
			ex.Req.Ext.Set(key, value)
		}
		remoting.NewRouter(l.routes, remoting.RouterOptions{Log: quiet()}).Serve(&ex)
		if ex.Reply.Code != remoting.Success {
			t.Fatal(ex.Reply.Remark)
		}
	}
	ask(early)
	ask(&conn{id: 9}) // somebody passes the request on
	got := l.reply(t, properties("REPLY_TO_CLIENT", "early"), "answer")
	wantReply(t, &got, remoting.Success, "")
	if push := <-early.asked; string(push.Body) != "answer" {
		t.Errorf("pushed %q", push.Body)
	}
	l.clients.ConnClosed(early)
	got = l.reply(t, properties("REPLY_TO_CLIENT", "early"), "answer")
	wantReply(t, &got, remoting.SystemError, "push reply message fail, channel of <early> not found.")
}

func TestReply_IsNotStoredUnlessAsked(t *testing.T) {
	t.Parallel()
	l := newReplyLab(t, false, false)
	got := l.reply(t, properties("REPLY_TO_CLIENT", "me"), "answer")
	wantReply(t, &got, remoting.Success, "")
	if extOf(&got, "msgId") != "0" || extOf(&got, "queueId") != "0" || l.storedReplies() != 0 {
		t.Errorf("msgId %q, %d replies stored", extOf(&got, "msgId"), l.storedReplies())
	}
}

func TestReply_SaysWhyNobodyGotIt(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, props, body, remark string
		answer                    func() (*remoting.Command, error)
		code                      int32
		stored                    int64
	}{
		{name: "nobody is named", body: "x", code: remoting.SystemError, remark: "reply message properties[REPLY_TO_CLIENT] is null", stored: 1},
		{name: "not connected", props: properties("REPLY_TO_CLIENT", "x"), body: "x", code: remoting.SystemError,
			remark: "push reply message fail, channel of <x> not found.", stored: 1},
		{name: "does not want it", props: properties("REPLY_TO_CLIENT", "me"), body: "x", code: remoting.SystemError, stored: 1,
			remark: "push reply message to me fail: code 1: unknown request",
			answer: func() (*remoting.Command, error) {
				return &remoting.Command{Code: remoting.SystemError, Remark: "unknown request"}, nil
			}},
		{name: "does not answer", props: properties("REPLY_TO_CLIENT", "me"), body: "x", code: remoting.SystemError, stored: 1,
			remark: "push reply message to me fail: client: gone",
			answer: func() (*remoting.Command, error) { return nil, errors.New("gone") }},
		{name: "no body", props: properties("REPLY_TO_CLIENT", "me"), code: remoting.MessageIllegal},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := newReplyLab(t, false, true)
			if tt.answer != nil {
				l.me.answer = tt.answer
			}
			got := l.reply(t, tt.props, tt.body)
			wantReply(t, &got, tt.code, tt.remark)
			if got.Remark == "" || l.storedReplies() != tt.stored {
				t.Errorf("remark %q, %d replies stored, want %d", got.Remark, l.storedReplies(), tt.stored)
			}
		})
	}
}
