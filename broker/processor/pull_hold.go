package processor

import (
	"github.com/wheelmq/wheelmq/broker/longpoll"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/remoting"
)

// heldPull is a pull whose answer comes later, through its Pending.
type heldPull struct {
	pull    *Pull
	target  pullTarget
	pending *remoting.Pending
	waiter  longpoll.Waiter
}

// hold takes a pull off the event loop.
func (p *Pull) hold(ex *remoting.Exchange, target pullTarget, deadline int64) *longpoll.Waiter {
	h := &heldPull{pull: p, target: target, pending: ex.Defer()}
	h.waiter = longpoll.Waiter{
		Topic: target.topic.TopicName, QueueID: target.queueID, Offset: target.offset, Filter: target.filter,
		Deadline: deadline, ConnID: ex.Conn.ID(), Group: target.group.GroupName, Resumer: h,
	}
	return &h.waiter
}

// park holds a pull that found nothing.
func (p *Pull) park(ex *remoting.Exchange, target pullTarget, suspendMs int64) {
	if s := p.settings.Load(); !s.LongPolling {
		suspendMs = min(suspendMs, s.ShortPollingMs)
	}
	conn := ex.Conn
	ex.Reply.Reset()
	waiter := p.hold(ex, target, p.opts.Wire.NowMillis()+suspendMs)
	p.opts.Polls.Park(waiter)
	// A record, a reset, or the connection's end may have come between the read and the parking.
	queue := p.opts.Store.Queue([]byte(target.topic.TopicName), target.queueID)
	if queue != nil && queue.Max() > target.offset || p.resetPending(&target) {
		p.opts.Polls.Resume(waiter)
	} else if conn.Closed() {
		p.opts.Polls.ConnClosed(conn.ID())
	}
}

// resetPending tells whether the pull is to be sent elsewhere.
func (p *Pull) resetPending(t *pullTarget) bool {
	return p.opts.Offsets.Resetting() &&
		p.opts.Offsets.ResetPending(t.group.GroupName, t.topic.TopicName, t.queueID)
}

// Resume implements longpoll.Resumer: it reads again and answers whatever there is.
func (h *heldPull) Resume(reason longpoll.Reason) {
	if reason == longpoll.Gone {
		if h.pending.Conn().Closed() {
			h.pending.Send()
		}
		return
	}
	if reason == longpoll.Stopping {
		h.pull.opts.Differences.Use(difference.HeldPullsAnswered)
		h.pending.Reply.Code, h.pending.Reply.Remark = remoting.ServiceNotAvailable, "the broker is stopping: pull again later"
		h.pending.Send()
		return
	}
	if reason == longpoll.TimedOut {
		h.pull.opts.Differences.Use(difference.LongPollOnTime)
	}
	h.pending.Reply.Ext.Open()
	topicName := []byte(h.target.topic.TopicName)
	queue := h.pull.opts.Store.Queue(topicName, h.target.queueID)
	got := h.pull.read(queue, &h.target, &h.pending.Reply)
	h.pull.opts.Offsets.Pulled([]byte(h.target.group.GroupName), topicName, h.target.queueID, got.next)
	h.pending.Send()
}
