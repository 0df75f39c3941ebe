package cases

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

const replyTopic = "DefaultCluster_REPLY_TOPIC"

// replier sends replies as a consumer's producer does.
type replier struct {
	*wire.Conn
	t *testing.T
}

func (r replier) header(properties string) map[string]string {
	h := wire.Send{Topic: replyTopic, Properties: properties}.Header()
	h["a"] = "repliers"
	return h
}

// start sends a reply whose answer comes when the requester has taken it.
func (r replier) start(properties, body string) <-chan *wire.Frame {
	answer := make(chan *wire.Frame, 1)
	go func() {
		ctx, cancel := context.WithTimeout(r.t.Context(), wire.Timeout)
		defer cancel()
		f, err := r.Do(ctx, wire.SendReplyMessageV2, r.header(properties), []byte(body))
		if err != nil {
			f = &wire.Frame{Code: -1, Remark: err.Error()}
		}
		answer <- f
	}()
	return answer
}

func (r replier) wait(answer <-chan *wire.Frame) *wire.Frame {
	r.t.Helper()
	select {
	case f := <-answer:
		return f
	case <-time.After(wire.Timeout):
		r.t.Fatal("the reply is not answered")
		return nil
	}
}

// requester is a producer that waits for replies.
type requester struct {
	*wire.Conn
	id string
}

func newRequester(t *testing.T) requester {
	t.Helper()
	r := requester{dialBroker(t), suite.Name(t, "client")}
	r.HeartbeatProducer(t, r.id, suite.Name(t, "requesters"))
	return r
}

func (r requester) pushed(t *testing.T) *wire.Frame {
	t.Helper()
	select {
	case f := <-r.Requests():
		if f.Code != wire.PushReplyMessage {
			t.Fatalf("the broker sent %v, want a pushed reply (326)", f)
		}
		return f
	case <-time.After(wire.Timeout):
		t.Fatal("no reply is pushed")
		return nil
	}
}

func toClient(id string) string {
	return wire.Properties("CORRELATION_ID", "c-1", "REPLY_TO_CLIENT", id, "MSG_TYPE", "reply", "TTL", "8000", "UNIQ_KEY", "U1")
}

// TestReply_IsPushedToItsRequester runs before the parallel tests: it counts the stored replies.
func TestReply_IsPushedToItsRequester(t *testing.T) {
	from, to := replier{dialBroker(t), t}, newRequester(t)
	before := from.MaxOffset(t, replyTopic, 0)
	answer := from.start(toClient(to.id), "the answer")
	push := to.pushed(t)
	select {
	case early := <-answer:
		t.Fatalf("answered before the requester has taken it: %v", early)
	case <-time.After(100 * time.Millisecond):
	}
	to.Answer(t, push, wire.Success, "")
	wantPush(t, push)
	got := from.wait(answer)
	wantCode(t, "reply", got, wire.Success)
	suite.Eventually(t, wire.Timeout, "the reply is stored", func() bool { return from.MaxOffset(t, replyTopic, 0) == before+1 })
	if got.Ext["queueId"] != "0" || got.Ext["queueOffset"] != fmt.Sprint(before) || len(got.Ext["msgId"]) != 32 {
		t.Errorf("the answer is %v", got.Ext)
	}
	stored := from.MustPull(t, wire.Pull{Group: suite.Name(t, "reader"), Topic: replyTopic, Offset: before})
	if len(stored.Messages) != 1 || string(stored.Messages[0].Body) != "the answer" {
		t.Fatalf("stored: %v", stored.Frame)
	}
	t.Logf("stored properties: %v", stored.Messages[0].Properties)
	if p := stored.Messages[0].Properties; p["CORRELATION_ID"] != "c-1" || p["REPLY_TO_CLIENT"] != to.id {
		t.Errorf("stored with %v", p)
	}
}

// wantPush checks the request that carries a reply to its requester.
func wantPush(t *testing.T, push *wire.Frame) {
	t.Helper()
	if string(push.Body) != "the answer" {
		t.Errorf("pushed body %q", push.Body)
	}
	fields := maps.Clone(push.Ext)
	for _, name := range []string{"bornTimestamp", "storeTimestamp"} {
		if len(fields[name]) != 13 {
			t.Errorf("pushed %s is %q, want ms", name, fields[name])
		}
		delete(fields, name)
	}
	for _, name := range []string{"bornHost", "storeHost"} {
		if !strings.HasPrefix(fields[name], "127.0.0.") || strings.Count(fields[name], ":") != 1 {
			t.Errorf("pushed %s is %q, want host:port", name, fields[name])
		}
		delete(fields, name)
	}
	properties := map[string]string{}
	for entry := range strings.SplitSeq(strings.TrimSuffix(fields["properties"], "\x02"), "\x02") {
		name, value, _ := strings.Cut(entry, "\x01")
		properties[name] = value
	}
	delete(fields, "properties")
	if len(properties["PUSH_REPLY_TIME"]) != 13 {
		t.Errorf("PUSH_REPLY_TIME is %q, want ms", properties["PUSH_REPLY_TIME"])
	}
	delete(properties, "PUSH_REPLY_TIME")
	delete(properties, "REPLY_TO_CLIENT")
	wantProperties := map[string]string{"CORRELATION_ID": "c-1", "MSG_TYPE": "reply", "TTL": "8000", "UNIQ_KEY": "U1",
		"MSG_REGION": "DefaultRegion", "TRACE_ON": "true"}
	if !maps.Equal(properties, wantProperties) {
		t.Errorf("pushed properties %v, want %v", properties, wantProperties)
	}
	wantFields := map[string]string{
		"producerGroup": "repliers", "topic": replyTopic, "defaultTopic": "TBW102", "defaultTopicQueueNums": "4", "queueId": "0",
		"sysFlag": "0", "flag": "0", "reconsumeTimes": "0", "unitMode": "false",
	}
	if !maps.Equal(fields, wantFields) {
		t.Errorf("pushed fields %v, want %v", fields, wantFields)
	}
}

// TestReplyThatNobodyGets_SaysSo: the consumer is told, and the reply is stored all the same.
func TestReplyThatNobodyGets_SaysSo(t *testing.T) {
	from := replier{dialBroker(t), t}
	refusing := newRequester(t)
	for _, tc := range []struct {
		name, properties, remark string
		refuse                   bool
	}{
		{name: "nobody is named", properties: wire.Properties("CORRELATION_ID", "c"), remark: "reply message properties[REPLY_TO_CLIENT] is null"},
		{name: "who is named is not there", properties: toClient("10.0.0.1@1#2"), remark: "push reply message fail, channel of <10.0.0.1@1#2> not found."},
		{name: "who is named does not want it", properties: toClient(refusing.id), refuse: true},
	} {
		before := from.MaxOffset(t, replyTopic, 0)
		answer := from.start(tc.properties, "x")
		if tc.refuse {
			refusing.Answer(t, refusing.pushed(t), wire.SystemError, "the correlation id is not known")
		}
		got := from.wait(answer)
		wantCode(t, tc.name, got, wire.SystemError)
		if tc.remark != "" && got.Remark != tc.remark {
			t.Errorf("%s: remark %q, want %q", tc.name, got.Remark, tc.remark)
		}
		suite.Eventually(t, wire.Timeout, tc.name+": the reply is stored", func() bool { return from.MaxOffset(t, replyTopic, 0) == before+1 })
	}
}

// TestReplyWithoutABody is what rocketmq-client-go sends: nothing is pushed or stored.
func TestReplyWithoutABody(t *testing.T) {
	from, to := replier{dialBroker(t), t}, newRequester(t)
	before := from.MaxOffset(t, replyTopic, 0)
	got := from.Call(t, wire.SendReplyMessage, map[string]string{
		"producerGroup": "repliers", "topic": replyTopic, "queueId": "0", "sysFlag": "0", "bornTimestamp": "1796003353743", "flag": "0",
		"properties": toClient(to.id), "reconsumeTimes": "0", "unitMode": "false", "batch": "false", "defaultTopic": "TBW102",
		"defaultTopicQueueNums": "4",
	}, nil)
	suite.Differs(t, "cases/reply-without-a-body", got.Code == wire.MessageIllegal && strings.Contains(got.Remark, "no body"), got.String())
	if n := from.MaxOffset(t, replyTopic, 0); n != before {
		t.Errorf("%d replies are stored", n-before)
	}
	select {
	case f := <-to.Requests():
		t.Errorf("pushed: %v", f)
	default:
	}
}

// TestReply_GoesToTheLivingConnection: a requester that has come back is not looked for where it was.
func TestReply_GoesToTheLivingConnection(t *testing.T) {
	from, was := replier{dialBroker(t), t}, newRequester(t)
	is := requester{dialBroker(t), was.id}
	is.HeartbeatProducer(t, is.id, suite.Name(t, "requesters"))
	was.Close()
	time.Sleep(100 * time.Millisecond)
	answer := from.start(toClient(is.id), "x")
	var got *wire.Frame
	select {
	case push := <-is.Requests():
		is.Answer(t, push, wire.Success, "")
		got = from.wait(answer)
	case got = <-answer:
	}
	suite.Differs(t, "cases/reply-to-the-living-connection", got.Code == wire.Success, got.String())
}

// TestReplyToAClientThatDiesWithIt does not let the consumer wait for it.
func TestReplyToAClientThatDiesWithIt(t *testing.T) {
	from, to := replier{dialBroker(t), t}, newRequester(t)
	answer := from.start(toClient(to.id), "x")
	to.pushed(t)
	to.Close()
	wantCode(t, "reply", from.wait(answer), wire.SystemError)
}

// TestReplyBeforeTheHeartbeat: a request has gone out and is answered before its producer's first heartbeat,
// as with a Go client that has just started.
func TestReplyBeforeTheHeartbeat(t *testing.T) {
	from := replier{dialBroker(t), t}
	to := requester{dialBroker(t), suite.Name(t, "client")}
	topic := suite.Name(t, "topic")
	to.MustCreateTopic(t, topic, 1)
	to.MustSend(t, wire.Send{Topic: topic, Body: []byte("x"), Properties: wire.Properties("CORRELATION_ID", "c-1", "REPLY_TO_CLIENT", to.id)})
	answer := from.start(toClient(to.id), "x")
	var got *wire.Frame
	select {
	case push := <-to.Requests():
		to.Answer(t, push, wire.Success, "")
		got = from.wait(answer)
	case got = <-answer:
	}
	suite.Differs(t, "cases/reply-before-heartbeat", got.Code == wire.Success, got.String())
}
