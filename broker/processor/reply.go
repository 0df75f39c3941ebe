package processor

import (
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/sirupsen/logrus"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/broker/client"
	"github.com/wheelmq/wheelmq/broker/stats"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/store"
)

type requesters interface {
	// ProducerConn is where a client that produces is reached; nil when it is not connected.
	ProducerConn(clientID string) remoting.Conn
	// RequesterConn is where a client has asked for replies; nil when it has not.
	RequesterConn(clientID string) remoting.Conn
	Ask(conn remoting.Conn, q *client.Question, done func(answer *remoting.Command, err error)) error
}

// Reply serves SEND_REPLY_MESSAGE (324) and SEND_REPLY_MESSAGE_V2 (325): the answer of a consumer to
// a request, which is pushed (326) to the client that the property REPLY_TO_CLIENT names. The
// consumer is told whether that client took it. With storeReplyMessageEnable the reply is stored as
// well, taken or not, in the topic that the consumer names, <cluster>_REPLY_TOPIC.
type Reply struct {
	Send    *Send // checks the target, and says what the reply to the consumer begins with
	Clients requesters
	Stored  func() bool // storeReplyMessageEnable
	Time    clock.Clock // of messages
	Log     logrus.FieldLogger
}

// Routes returns the table rows.
func (r *Reply) Routes() []remoting.Route {
	const test = "broker/processor/reply_test.go"
	return []remoting.Route{
		{Code: remoting.SendReplyMessage, Class: remoting.Inline, Handler: r.push, Since: "4.6", Test: test},
		{Code: remoting.SendReplyMessageV2, Class: remoting.Inline, Handler: r.push, Since: "4.6", Test: test},
	}
}

// errNoReplyBody is for rocketmq-client-go, which leaves the body out.
var errNoReplyBody = &remoting.Error{Code: remoting.MessageIllegal,
	Remark: "the reply is illegal: it has no body, so there is nothing to push to the requester (rocketmq-client-go sends its replies without their bodies)"}

// replyState is a reply on its way.
type replyState struct {
	reply    *Reply
	pending  *remoting.Pending
	rec      message.Record
	counters *stats.Topic
}

func (r *Reply) push(ex *remoting.Exchange) error {
	ex.Reply.Ext.Fields(&r.Send.texts.Load().head)
	var h remoting.SendMessageRequest
	if err := h.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	if len(ex.Req.Body) == 0 {
		return errNoReplyBody
	}
	config, err := r.Send.target(&h, ex.Conn.RemoteAddr())
	if err != nil {
		return err
	}
	st := &replyState{reply: r, counters: r.Send.opts.Stats.TopicCounters([]byte(config.TopicName)), rec: message.Record{
		Topic: config.TopicName, QueueID: h.QueueID, Flag: h.Flag, BornTimestamp: h.BornTimestamp, BornHost: ex.Conn.RemoteAddr(),
		SysFlag: h.SysFlag &^ message.SysFlagTransactionMask, StoreHost: r.Send.opts.StoreHost, ReconsumeTimes: h.ReconsumeTimes,
		Body: slices.Clone(ex.Req.Body), Properties: r.properties(h.Properties),
	}}
	if h.QueueID < 0 {
		st.rec.QueueID = rand.Int32N(max(1, config.WriteQueueNums))
	}
	requester, _ := message.PropertyGet(h.Properties, message.PropertyReplyToClient)
	q := r.question(&h, &st.rec)
	st.pending = ex.Defer()
	st.pending.Reply.Ext.Fields(&r.Send.texts.Load().head)
	st.ask(string(requester), q)
	return nil
}

// properties are those of the consumer, and what a broker says of itself.
func (r *Reply) properties(props []byte) []byte {
	kept := message.PropertyCopyWithout(nil, props, func(name []byte) bool {
		return string(name) == message.PropertyMsgRegion || string(name) == message.PropertyTraceOn
	})
	kept = message.PropertyAppend(kept, message.PropertyMsgRegion, r.Send.opts.Region)
	return message.PropertyAppend(kept, message.PropertyTraceOn, strconv.FormatBool(r.Send.texts.Load().traced))
}

// question is the push. It holds nothing of the request's frame.
func (r *Reply) question(h *remoting.SendMessageRequest, rec *message.Record) *client.Question {
	now := r.Time.NowMillis()
	pushed := message.PropertyAppend(slices.Clone(rec.Properties), message.PropertyPushReplyTime, strconv.FormatInt(now, 10))
	req := remoting.PushReplyMessageRequest{
		ProducerGroup: string(h.ProducerGroup), Topic: rec.Topic, DefaultTopic: string(h.DefaultTopic), DefaultTopicQueueNums: h.DefaultTopicQueueNums,
		QueueID: h.QueueID, SysFlag: h.SysFlag, BornTimestamp: h.BornTimestamp, Flag: h.Flag, Properties: string(pushed),
		ReconsumeTimes: h.ReconsumeTimes, UnitMode: h.UnitMode, BornHost: rec.BornHost.String(), StoreHost: rec.StoreHost.String(), StoreTimestamp: now,
	}
	q := &client.Question{Code: remoting.PushReplyMessageToClient, Body: rec.Body}
	req.Encode(&q.Ext)
	return q
}

// ask pushes to the requester and finishes, at once when that cannot be. Remarks without a reason
// are the real broker's.
func (st *replyState) ask(requester string, q *client.Question) {
	if requester == "" {
		st.refuse("reply message properties[" + message.PropertyReplyToClient + "] is null")
		return
	}
	conn := st.reply.Clients.ProducerConn(requester)
	if conn == nil {
		if conn = st.reply.Clients.RequesterConn(requester); conn != nil && !st.reply.Send.opts.Differences.Use(difference.ReplyBeforeHeartbeat) {
			conn = nil
		}
	}
	if conn == nil {
		st.refuse("push reply message fail, channel of <" + requester + "> not found.")
		return
	}
	done := func(answer *remoting.Command, err error) {
		if err == nil && answer.Code != remoting.Success {
			err = &remoting.Error{Code: answer.Code, Remark: answer.Remark}
		}
		st.heard(requester, err)
	}
	if err := st.reply.Clients.Ask(conn, q, done); err != nil {
		st.heard(requester, err)
	}
}

// heard finishes with what the requester answered.
func (st *replyState) heard(requester string, err error) {
	if err != nil {
		st.refuse("push reply message to " + requester + " fail: " + err.Error())
		return
	}
	st.finish()
}

func (st *replyState) refuse(remark string) {
	st.pending.Reply.Code, st.pending.Reply.Remark = remoting.SystemError, remark
	st.finish()
}

// finish stores the reply and answers the consumer. What the answer says of it tells of the push
// alone, as with the real broker.
func (st *replyState) finish() {
	if !st.reply.Stored() {
		st.answer(store.PutResult{}, "0")
		return
	}
	var done store.Completion
	if st.reply.Send.opts.SyncFlush {
		done = st
	}
	res, waits, err := st.reply.Send.opts.Appender.Put(&st.rec, appender.FromClient, done)
	if waits {
		return
	}
	st.put(res, err)
}

// PutDone implements store.Completion.
func (st *replyState) PutDone(res store.PutResult) { st.put(res, appender.Refusal(res)) }

func (st *replyState) put(res store.PutResult, err error) {
	if err != nil {
		st.reply.Send.opts.Stats.PutFailed()
		st.reply.Log.WithError(err).WithField("topic", st.rec.Topic).Warn("a pushed reply is not stored")
		st.answer(store.PutResult{}, "0")
		return
	}
	st.counters.PutOK(1, int64(res.Size))
	st.counters.In(stats.Normal, int64(res.Size))
	st.answer(res, string(message.AppendOffsetID(nil, st.rec.StoreHost, res.CommitLogOffset)))
}

func (st *replyState) answer(res store.PutResult, id string) {
	ext := &st.pending.Reply.Ext
	if st.pending.Reply.Code == remoting.Success || id != "0" {
		ext.String("msgId", id)
		ext.Int("queueId", int64(st.rec.QueueID))
		ext.Int("queueOffset", res.QueueOffset)
	}
	st.pending.Send()
}
