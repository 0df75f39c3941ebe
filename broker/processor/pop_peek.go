package processor

import (
	"github.com/wheelmq/wheelmq/broker/filter"
	"github.com/wheelmq/wheelmq/broker/longpoll"
	"github.com/wheelmq/wheelmq/remoting"
)

// peek answers what the next pop would get, and takes nothing. Messages of retry topics come as they
// are stored.
func (p *Pop) peek(ex *remoting.Exchange) error {
	var req remoting.PeekMessageRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	target, err := p.checkPeek(ex, &req)
	if err != nil {
		new(remoting.PopMessageResponse).Encode(&ex.Reply.Ext)
		return err
	}
	b, got, rest := newBatch(), pulled{}, int64(0)
	p.each(&target, func(at *place) bool {
		got.min, got.max = at.queue.Min(), at.queue.Max()
		from := min(p.from(at), got.max)
		rest += got.max - from
		if got.msgs < target.maxNums && from < got.max {
			p.records.collect(at.queue, &want{
				topic: at.key.Topic, queueID: at.key.QueueID, offset: from, maxNums: target.maxNums, filter: filter.All,
			}, b, &got, &ex.Reply)
		}
		return true
	})
	ex.Reply.Code, ex.Reply.Remark = remoting.PullNotFound, "NO_MESSAGE_IN_QUEUE"
	if got.msgs > 0 {
		ex.Reply.Code, ex.Reply.Remark, ex.Reply.Release = remoting.Success, "FOUND", b.release
	} else {
		b.free()
	}
	head := remoting.PopMessageResponse{RestNum: rest}
	head.Encode(&ex.Reply.Ext)
	return nil
}

func (p *Pop) checkPeek(ex *remoting.Exchange, req *remoting.PeekMessageRequest) (t popTarget, err error) {
	if p.opts.Readable != nil && !p.opts.Readable() {
		return t, remoting.Errorf(remoting.NoPermission, "the broker[%s] peeking message is forbidden", p.opts.BrokerIP)
	}
	t.topic, t.group, err = p.readable(ex, req.Topic, req.ConsumerGroup, req.QueueID)
	t.queueID, t.maxNums = max(req.QueueID, longpoll.AnyQueue), min(max(req.MaxMsgNums, 0), maxPop)
	return t, err
}
