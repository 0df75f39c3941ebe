package processor

import (
	"sync/atomic"

	"github.com/wheelmq/wheelmq/broker/longpoll"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

// heldPop is a pop whose answer comes through its Pending.
type heldPop struct {
	pop     *Pop
	target  popTarget
	pending *remoting.Pending
	waiter  longpoll.Waiter
	last    bool // it is answered now, whatever there is

	// Of the look that found nothing.
	rest     int64
	hindered bool

	// What is popped has to be durable first: the answer waits for all windows.
	unsaved atomic.Int32
	failed  atomic.Pointer[error]
}

func (p *Pop) held(t *popTarget, pending *remoting.Pending) *heldPop {
	h := &heldPop{pop: p, target: *t, pending: pending}
	h.waiter = longpoll.Waiter{
		Topic: t.topic.TopicName, QueueID: t.queueID, Filter: t.filter, Deadline: t.deadline, ConnID: t.connID,
		Group: t.group.GroupName, Kind: longpoll.Pop, Resumer: h,
	}
	return h
}

// holds tells whether a pop has found nothing and is to wait for more.
func (p *Pop) holds(run *popRun) bool {
	return run.got.msgs == 0 && run.failed == nil && run.t.deadline > 0
}

// park holds a pop that found nothing.
func (p *Pop) park(h *heldPop) {
	conn := h.pending.Conn()
	topicName, group := h.target.topic.TopicName, h.target.group.GroupName
	if !p.opts.Polls.ParkTurn(&h.waiter, message.PrefixRetry+group+"_"+topicName, message.PrefixRetry+group+"+"+topicName) {
		h.answer(remoting.PollingFull)
		return
	}
	// Something may have arrived between the look and the parking. What was there before, and cannot be
	// handed out, is none of it.
	if h.hindered || p.available(&h.target) > h.rest {
		p.opts.Polls.Resume(&h.waiter)
	} else if conn.Closed() {
		p.opts.Polls.ConnClosed(h.target.connID)
	}
}

// answer tells a client that there is nothing.
func (h *heldPop) answer(code int32) {
	run := h.pop.begin(&h.target, &h.pending.Reply)
	run.answer()
	h.pending.Reply.Code = code
	run.end()
	h.pending.Send()
}

// gone tells whether nobody is there to answer. Whose turn comes next gets what had arrived: a message that
// is handed out to nobody would be invisible for a while.
func (p *Pop) gone(pending *remoting.Pending, w *longpoll.Waiter, reason longpoll.Reason) bool {
	closed := pending.Conn().Closed()
	if closed {
		if pending.Send(); reason == longpoll.Arrived {
			p.opts.Polls.Wake(w.Topic, w.Group, w.QueueID)
		}
	}
	return closed || reason == longpoll.Gone
}

// Resume implements longpoll.Resumer.
func (h *heldPop) Resume(reason longpoll.Reason) {
	if h.pop.gone(h.pending, &h.waiter, reason) {
		return
	}
	switch reason {
	case longpoll.Stopping:
		h.answer(remoting.PollingTimeout)
		return
	case longpoll.TimedOut:
		h.pop.opts.Differences.Use(difference.LongPollOnTime)
	}
	h.last = h.target.deadline <= h.pop.opts.Wire.NowMillis()
	h.run()
}

// run looks for messages and answers, or waits for some.
func (h *heldPop) run() {
	run := h.pop.begin(&h.target, &h.pending.Reply)
	if h.pop.opts.SyncFlush {
		h.unsaved.Store(1)
		run.wait = h.wait
	}
	run.read()
	if !h.last && h.pop.holds(run) && h.unsaved.Load() <= 1 {
		again := h.pop.held(&h.target, h.pending)
		again.rest, again.hindered = run.rest, run.hindered
		run.end()
		h.pending.Reply.Reset()
		h.pop.park(again)
		return
	}
	run.answer()
	run.end()
	h.saved(nil)
}

// wait is what tells that one window more is durable.
func (h *heldPop) wait() func(error) {
	h.unsaved.Add(1)
	return h.saved
}

// saved answers when all is durable.
func (h *heldPop) saved(err error) {
	if err != nil {
		h.failed.Store(&err)
	}
	if h.unsaved.Add(-1) > 0 {
		return
	}
	if failed := h.failed.Load(); failed != nil {
		h.refuse(*failed)
	}
	h.pending.Send()
}

// refuse takes a reply back: what is popped may not be known after a crash.
func (h *heldPop) refuse(err error) {
	reply := &h.pending.Reply
	if reply.Release != nil {
		reply.Release()
	}
	reply.Reset()
	reply.Code, reply.Remark = remoting.SystemError, "what is popped cannot be written: "+err.Error()
	new(remoting.PopMessageResponse).Encode(&reply.Ext)
}
