package processor

import (
	"github.com/wheelmq/wheelmq/broker/longpoll"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

// heldNotification is a notification whose answer comes when there is something to pop, or when its
// time is up.
type heldNotification struct {
	pop     *Pop
	target  popTarget
	pending *remoting.Pending
	waiter  longpoll.Waiter
}

// notification tells whether there is something to pop, and waits for it.
func (p *Pop) notification(ex *remoting.Exchange) error {
	var req remoting.NotificationRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	target, err := p.checkNotification(ex, &req)
	if err != nil {
		new(remoting.NotificationResponse).Encode(&ex.Reply.Ext)
		return err
	}
	if there := p.available(&target) > 0; there || target.deadline == 0 {
		(&remoting.NotificationResponse{HasMsg: there}).Encode(&ex.Reply.Ext)
		return nil
	}
	h := &heldNotification{pop: p, target: target, pending: ex.Defer()}
	h.waiter = longpoll.Waiter{
		Topic: target.topic.TopicName, QueueID: target.queueID, Filter: target.filter, Deadline: target.deadline, ConnID: target.connID,
		Group: target.group.GroupName, Kind: longpoll.Notification, Resumer: h,
	}
	h.park()
	return nil
}

func (p *Pop) checkNotification(ex *remoting.Exchange, req *remoting.NotificationRequest) (t popTarget, err error) {
	if p.opts.Readable != nil && !p.opts.Readable() {
		return t, remoting.Errorf(remoting.NoPermission, "the broker[%s] peeking message is forbidden", p.opts.BrokerIP)
	}
	if t.topic, t.group, err = p.readable(ex, req.Topic, req.ConsumerGroup, req.QueueID); err != nil {
		return t, err
	}
	if t.filter, err = p.compile(req.ConsumerGroup, req.Topic, req.ExpressionType, req.Expression); err != nil {
		return t, err
	}
	now := p.opts.Wire.NowMillis()
	if req.BornTime == 0 {
		req.BornTime = now
	}
	t.queueID, t.order, t.attemptID, t.connID = max(req.QueueID, longpoll.AnyQueue), req.Order, string(req.AttemptID), ex.Conn.ID()
	t.deadline = pollUntil(now, req.BornTime, req.PollTime)
	return t, nil
}

func (h *heldNotification) park() {
	p, topicName, group := h.pop, h.target.topic.TopicName, h.target.group.GroupName
	conn := h.pending.Conn()
	if !p.opts.Polls.ParkTurn(&h.waiter, message.PrefixRetry+group+"_"+topicName, message.PrefixRetry+group+"+"+topicName) {
		h.answer(remoting.NotificationResponse{PollingFull: true})
		return
	}
	if p.available(&h.target) > 0 {
		p.opts.Polls.Resume(&h.waiter)
	} else if conn.Closed() {
		p.opts.Polls.ConnClosed(h.target.connID)
	}
}

// Resume implements longpoll.Resumer.
func (h *heldNotification) Resume(reason longpoll.Reason) {
	if h.pop.gone(h.pending, &h.waiter, reason) {
		return
	}
	h.answer(remoting.NotificationResponse{HasMsg: h.pop.available(&h.target) > 0})
}

func (h *heldNotification) answer(resp remoting.NotificationResponse) {
	resp.Encode(&h.pending.Reply.Ext)
	h.pending.Send()
}

// pollingInfo tells how many pops wait.
func (p *Pop) pollingInfo(ex *remoting.Exchange) error {
	var req remoting.PollingInfoRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	if _, _, err := p.readable(ex, req.Topic, req.ConsumerGroup, req.QueueID); err != nil {
		new(remoting.PollingInfoResponse).Encode(&ex.Reply.Ext)
		return err
	}
	held := p.opts.Polls.Turns(string(req.Topic), string(req.ConsumerGroup), max(req.QueueID, longpoll.AnyQueue))
	(&remoting.PollingInfoResponse{PollingNum: int32(held)}).Encode(&ex.Reply.Ext)
	return nil
}
