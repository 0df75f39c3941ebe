package processor

import (
	"errors"
	mathbits "math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/wheelmq/wheelmq/broker/inflight"
	"github.com/wheelmq/wheelmq/broker/pop"
	"github.com/wheelmq/wheelmq/broker/stats"
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/store"
)

// popHandles is what becomes of what was popped.
type popHandles interface {
	Ack(k pop.Key, offset, popTime int64, done func(error)) (acked, pending bool, err error)
	AckBatch(k pop.Key, popTime int64, offsets []int64, done func(error)) (acked int, pending bool, err error)
	ChangeInvisible(k pop.Key, c *pop.Change, done func(error)) (res pop.Changed, pending bool, err error)
	Each(visit func(pop.Info), now int64)
}

// PopAck serves ACK_MESSAGE (200051), BATCH_ACK_MESSAGE (200151) and CHANGE_MESSAGE_INVISIBLETIME
// (200053). As with the real server, a handle that is not good any more is no error: the message is
// on its way to somebody else, and nothing happens.
type PopAck struct {
	Topics  topicReader
	Groups  groupReader
	Store   store.Log
	Handles popHandles
	Time    clock.Clock // of messages
	Stats   *stats.Service
	// SyncFlush makes answers wait until they are on disk.
	SyncFlush bool
	InFlight  *inflight.Tracker // is told what is acknowledged or put off; may be nil
}

// Routes returns the table rows.
func (a *PopAck) Routes() []remoting.Route {
	const test = "broker/processor/pop_ack_test.go"
	return []remoting.Route{
		{Code: remoting.AckMessage, Class: remoting.Inline, Handler: a.ack, Since: "5.0", Test: test},
		{Code: remoting.BatchAckMessage, Class: remoting.Inline, Handler: a.batch, Since: "5.0", Test: test},
		{Code: remoting.PopRollback, Class: remoting.Admin, Handler: a.rollback, Since: "5.4", Test: test,
			Status: remoting.Partial, Note: "only while nothing is in flight: wheelmq store export makes a store with which the real broker goes on"},
		{Code: remoting.ChangeMessageInvisibleTime, Class: remoting.Inline, Handler: a.change, Since: "5.0", Test: test},
	}
}

// outcome is an answer that may have to wait until what it says is on disk.
type outcome struct {
	reply   *remoting.Reply
	pending *remoting.Pending // nil: it need not
	left    atomic.Int32
	failed  atomic.Pointer[error]
}

// outcome begins the answer of an exchange; finish ends it.
func (a *PopAck) outcome(ex *remoting.Exchange) *outcome {
	if !a.SyncFlush {
		return &outcome{reply: &ex.Reply}
	}
	o := &outcome{pending: ex.Defer()}
	o.reply = &o.pending.Reply
	o.left.Store(1)
	return o
}

// done is what one step is to call when it is on disk; nil: nobody waits.
func (o *outcome) done() func(error) {
	if o.pending == nil {
		return nil
	}
	o.left.Add(1)
	return o.finish
}

// step ends a step that has not to wait.
func (o *outcome) step(done func(error), pending bool, err error) {
	if done != nil && (err != nil || !pending) {
		done(err)
	} else if err != nil {
		o.failed.Store(&err)
	}
}

// finish sends the answer when every step is on disk.
func (o *outcome) finish(err error) {
	if err != nil {
		o.failed.Store(&err)
	}
	if o.pending != nil && o.left.Add(-1) > 0 {
		return
	}
	if failed := o.failed.Load(); failed != nil {
		o.reply.Code, o.reply.Remark = remoting.SystemError, "it cannot be written: "+(*failed).Error()
		var known *remoting.Error
		if errors.As(*failed, &known) {
			o.reply.Code, o.reply.Remark = known.Code, known.Remark
		}
	}
	if o.pending != nil {
		o.pending.Send()
	}
}

func (a *PopAck) ack(ex *remoting.Exchange) error {
	var req remoting.AckMessageRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	config, err := a.check(ex, req.Topic, req.QueueID)
	if err != nil {
		return err
	}
	if err := a.within(req.Topic, req.QueueID, req.Offset, 0); err != nil {
		return err
	}
	h, err := parseHandle(req.ExtraInfo)
	if err != nil {
		return err
	}
	k := a.key(req.ConsumerGroup, config.TopicName, req.QueueID)
	if !a.SyncFlush {
		acked, _, err := a.Handles.Ack(k, req.Offset, h.popTime, nil)
		a.acked(acked, k, &req, h.popTime)
		return err
	}
	o := a.outcome(ex)
	done := o.done()
	acked, pending, err := a.Handles.Ack(k, req.Offset, h.popTime, done)
	a.acked(acked, k, &req, h.popTime)
	o.step(done, pending, err)
	o.finish(nil)
	return nil
}

// acked counts an acknowledgement that had an effect.
func (a *PopAck) acked(effect bool, k pop.Key, req *remoting.AckMessageRequest, popTime int64) {
	if effect {
		a.Stats.GroupCounters(req.ConsumerGroup, req.Topic).Acked(1)
		one := [1]int64{req.Offset}
		a.InFlight.Acked(placeOf(&k), popTime, one[:])
	}
}

// check refuses a topic or queue that is not there.
func (a *PopAck) check(ex *remoting.Exchange, topicName []byte, queueID int32) (*topic.Config, error) {
	config := a.Topics.Get(topicName)
	if config == nil {
		return nil, remoting.Errorf(remoting.TopicNotExist, "topic[%s] not exist, apply first please! %s", topicName, faq)
	}
	if queueID < 0 || queueID >= config.ReadQueueNums {
		return nil, illegalQueue(ex, remoting.MessageIllegal, config, queueID)
	}
	return config, nil
}

// within refuses an offset outside of the queue, or less than behind before its end.
func (a *PopAck) within(topicName []byte, queueID int32, offset, behind int64) error {
	low, high := int64(0), int64(0)
	if q := a.Store.Queue(topicName, queueID); q != nil {
		low, high = q.Min(), q.Max()
	}
	if offset < low || offset > high-behind {
		return remoting.Errorf(remoting.NoMessage, "offset is illegal, key:%s@%d, commit:%d, store:%d~%d", topicName, queueID, offset, low, high)
	}
	return nil
}

// key names the window of a handle, without an allocation for a group that exists.
func (a *PopAck) key(group []byte, topicName string, queueID int32) pop.Key {
	if config := a.Groups.Lookup(group); config != nil {
		return pop.Key{Group: config.GroupName, Topic: topicName, QueueID: queueID}
	}
	return pop.Key{Group: string(group), Topic: topicName, QueueID: queueID}
}

// batch acknowledges messages of several batches. Those that are not there are passed over.
func (a *PopAck) batch(ex *remoting.Exchange) error {
	var body remoting.BatchAckBody
	if len(ex.Req.Body) > 0 {
		if err := decodeBody(ex, &body); err != nil {
			return err
		}
	}
	if len(body.Acks) == 0 {
		return &remoting.Error{Code: remoting.NoMessage, Remark: "the request acknowledges nothing"}
	}
	for i := range body.Acks {
		if len(body.Acks[i].Retry) != 1 || body.Acks[i].Retry[0] < '0' || body.Acks[i].Retry[0] > '2' {
			return remoting.Errorf(remoting.SystemError, "the retry flag %q is none of 0, 1, 2", body.Acks[i].Retry)
		}
	}
	o := a.outcome(ex)
	for i := range body.Acks {
		a.ackEach(o, &body.Acks[i])
	}
	o.finish(nil)
	return nil
}

// ackEach acknowledges the messages of one batch, as far as they are in its queue. Its bits may be any number:
// they are taken some at a time.
func (a *PopAck) ackEach(o *outcome, one *remoting.BatchAck) {
	k := pop.Key{Group: one.ConsumerGroup, Topic: one.Topic, QueueID: one.QueueID}
	if one.Retry != "0" {
		k.Topic = pop.RetryTopic(one.ConsumerGroup, one.Topic, one.Retry == "2")
	}
	q := a.Store.Queue([]byte(k.Topic), k.QueueID)
	if q == nil {
		return
	}
	low, high := q.Min(), q.Max()
	some := ackLists.Get().(*[maxAcks]int64)
	defer ackLists.Put(some)
	offsets := some[:0]
	for i, bits := range one.Bits {
		for ; bits != 0; bits &= bits - 1 {
			at := one.StartOffset + int64(i*8+mathbits.TrailingZeros8(bits))
			if at < low || at > high {
				continue
			}
			if offsets = append(offsets, at); len(offsets) == len(some) {
				a.ackSome(o, k, one, offsets)
				offsets = some[:0]
			}
		}
	}
	if len(offsets) > 0 {
		a.ackSome(o, k, one, offsets)
	}
}

// maxAcks is how many messages of a batch are acknowledged at a time.
const maxAcks = 256

var ackLists = sync.Pool{New: func() any { return new([maxAcks]int64) }}

func (a *PopAck) ackSome(o *outcome, k pop.Key, one *remoting.BatchAck, offsets []int64) {
	var all []int64
	if a.InFlight != nil {
		all = slices.Clone(offsets)
	}
	done := o.done()
	acked, pending, err := a.Handles.AckBatch(k, one.PopTime, offsets, done)
	if acked > 0 {
		a.Stats.GroupCounters([]byte(one.ConsumerGroup), []byte(one.Topic)).Acked(int64(acked))
		a.InFlight.Acked(placeOf(&k), one.PopTime, all)
	}
	o.step(done, pending, err)
}

// change makes a message invisible for another while, from now on.
func (a *PopAck) change(ex *remoting.Exchange) error {
	var req remoting.ChangeInvisibleTimeRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	k, h, err := a.checkChange(ex, &req)
	if err != nil {
		new(remoting.ChangeInvisibleTimeResponse).Encode(&ex.Reply.Ext)
		return err
	}
	c := pop.Change{
		Offset: req.Offset, PopTime: h.popTime, Now: a.Time.NowMillis(), InvisibleMs: min(max(req.InvisibleTime, 0), maxInvisibleMs),
		Suspend: req.Suspend,
	}
	o := a.outcome(ex)
	done := o.done()
	res, pending, err := a.Handles.ChangeInvisible(k, &c, done)
	// A stale handle is answered like a good one: nobody is to get it wrong whose message came back.
	head := remoting.ChangeInvisibleTimeResponse{PopTime: c.Now, InvisibleTime: c.InvisibleMs, ReviveQID: h.reviveQid}
	if res.OK {
		a.InFlight.PutOff(placeOf(&k), c.Offset, c.PopTime, res.PopTime)
		head.PopTime, head.InvisibleTime = res.PopTime, res.InvisibleMs
	} else if h.reviveQid == orderReviveQid {
		head = remoting.ChangeInvisibleTimeResponse{}
	}
	head.Encode(&o.reply.Ext)
	o.step(done, pending, err)
	o.finish(nil)
	return nil
}

func (a *PopAck) checkChange(ex *remoting.Exchange, req *remoting.ChangeInvisibleTimeRequest) (k pop.Key, h handle, err error) {
	config, err := a.check(ex, req.Topic, req.QueueID)
	if err != nil {
		return k, h, err
	}
	if err := a.within(req.Topic, req.QueueID, req.Offset, 1); err != nil {
		return k, h, err
	}
	h, err = parseHandle(req.ExtraInfo)
	return a.key(req.ConsumerGroup, config.TopicName, req.QueueID), h, err
}

// rollback (mqadmin exportPopRecord) hands what is in flight over to an older broker. There is none here
// to take it.
func (a *PopAck) rollback(*remoting.Exchange) error {
	flying := int64(0)
	a.Handles.Each(func(i pop.Info) { flying += i.InFlight }, a.Time.NowMillis())
	if flying > 0 {
		return remoting.Errorf(remoting.SystemError,
			"%d messages are in flight: stop this server and use wheelmq store export, which writes them as RocketMQ keeps them", flying)
	}
	return nil
}
