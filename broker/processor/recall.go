package processor

import (
	"net/netip"
	"strconv"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/broker/stats"
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/store"
)

// recallTag and recallBody are what a recall is stored with: a record of the timer queue that
// removes another one.
const (
	recallTag  = "_RECALL_TAG_"
	recallBody = "0"
)

// The remarks are the real broker's.
var (
	errRecallForbidden   = &remoting.Error{Code: remoting.NoPermission, Remark: "recall failed, operation is forbidden"}
	errRecallUnavailable = &remoting.Error{Code: remoting.ServiceNotAvailable, Remark: "recall failed, broker service not available"}
	errRecallHandle      = &remoting.Error{Code: remoting.IllegalOperation, Remark: "recall handle is invalid"}
	errRecallTopic       = &remoting.Error{Code: remoting.IllegalOperation, Remark: "recall failed, topic not match"}
	errRecallBroker      = &remoting.Error{Code: remoting.IllegalOperation, Remark: "recall failed, broker service not available"}
	errRecallInstant     = &remoting.Error{Code: remoting.IllegalOperation, Remark: "recall failed, timestamp invalid"}
)

// Recall serves RECALL_MESSAGE (370): a message that waits for its instant will not be delivered.
// Success says that the wish is stored, as durably as a message is; a message that the handle does
// not find, or one that was recalled before, makes no difference.
type Recall struct {
	Topics interface {
		Get(name []byte) *topic.Config
	}
	Appender  messageAppender
	Stats     *stats.Service
	Store     clock.Clock
	StoreHost netip.AddrPort

	Broker     string       // brokerName
	Region     string       // regionId
	MaxDelayMs func() int64 // timerMaxDelaySec
	SyncFlush  bool         // flushDiskType=SYNC_FLUSH: replies wait for the group commit

	Allowed  func() bool // recallMessageEnable
	Writable func() bool // brokerPermission, unless allowRecallWhenBrokerNotWriteable
}

// Routes returns the table rows.
func (r *Recall) Routes() []remoting.Route {
	return []remoting.Route{{
		Code: remoting.RecallMessage, Class: remoting.Inline, Handler: r.recall,
		Since: "5.4", Test: "broker/processor/recall_test.go",
	}}
}

func (r *Recall) recall(ex *remoting.Exchange) error {
	ex.Reply.Ext.String("MSG_REGION", r.Region)
	if !r.Allowed() {
		return errRecallForbidden
	}
	if !r.Writable() {
		return errRecallUnavailable
	}
	var req remoting.RecallMessageRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	handle, err := r.handle(&req)
	if err != nil {
		return err
	}
	rec := r.cancel(&req, &handle)
	rec.BornHost = ex.Conn.RemoteAddr()
	if r.SyncFlush {
		r.putWaiting(ex, rec, handle.UniqKey)
		return nil
	}
	res, _, err := r.Appender.Put(rec, appender.FromClient, nil)
	if err != nil {
		return err
	}
	r.reply(&ex.Reply, res, handle.UniqKey)
	return nil
}

// handle is the message that a request names, in the order of the real broker's checks.
func (r *Recall) handle(req *remoting.RecallMessageRequest) (message.RecallHandle, error) {
	if r.Topics.Get([]byte(req.Topic)) == nil {
		return message.RecallHandle{}, remoting.Errorf(remoting.TopicNotExist, "recall failed, the topic[%s] not exist", req.Topic)
	}
	handle, ok := message.ParseRecallHandle(req.RecallHandle)
	if !ok {
		return handle, errRecallHandle
	}
	if handle.Topic != req.Topic {
		return handle, errRecallTopic
	}
	if handle.Broker != r.Broker {
		return handle, errRecallBroker
	}
	// Message time or the wall decides when the message is due: the handle does not say which.
	now := r.Store.NowMillis()
	if left := handle.DeliverMs - min(now, clock.WallMillis(r.Store)); left <= 0 || left >= r.MaxDelayMs() {
		return handle, errRecallInstant
	}
	return handle, nil
}

// cancel is the record that removes a message: it lies in the second of its TIMER_OUT_MS.
func (r *Recall) cancel(req *remoting.RecallMessageRequest, handle *message.RecallHandle) *message.Record {
	props := message.PropertyAppend(nil, message.PropertyTags, recallTag)
	props = message.PropertyAppend(props, message.PropertyUniqKey, handle.UniqKey)
	props = message.PropertyAppend(props, message.PropertyTimerDelUniqKey, handle.UniqKey)
	props = message.PropertyAppend(props, message.PropertyTimerDeliverMs, strconv.FormatInt(handle.DeliverMs, 10))
	if req.ProducerGroup != "" {
		props = message.PropertyAppend(props, message.PropertyProducerGroup, req.ProducerGroup)
	}
	return &message.Record{
		Topic: handle.Topic, BornTimestamp: r.Store.NowMillis(), StoreHost: r.StoreHost, Body: []byte(recallBody), Properties: props,
	}
}

func (r *Recall) reply(reply *remoting.Reply, res store.PutResult, uniqKey string) {
	reply.Ext.String("msgId", uniqKey)
	timers := r.Stats.TopicCounters([]byte(message.TopicTimer))
	timers.PutOK(1, int64(res.Size))
	timers.In(stats.Delay, int64(res.Size))
}

// putWaiting answers when the recall is durable. The completion may run before Put returns, so the
// reply is deferred first.
func (r *Recall) putWaiting(ex *remoting.Exchange, rec *message.Record, uniqKey string) {
	done := &recallDone{recall: r, pending: ex.Defer(), uniqKey: uniqKey}
	done.pending.Reply.Ext.String("MSG_REGION", r.Region)
	res, pending, err := r.Appender.Put(rec, appender.FromClient, done)
	if pending {
		return
	}
	done.answer(res, err)
}

// recallDone waits for a recall to be durable.
type recallDone struct {
	recall  *Recall
	pending *remoting.Pending
	uniqKey string
}

// PutDone implements store.Completion.
func (d *recallDone) PutDone(res store.PutResult) { d.answer(res, appender.Refusal(res)) }

func (d *recallDone) answer(res store.PutResult, err error) {
	if err != nil {
		fail(&d.pending.Reply, err)
	} else {
		d.recall.reply(&d.pending.Reply, res, d.uniqKey)
	}
	d.pending.Send()
}
