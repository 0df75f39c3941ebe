package processor

import (
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/store"
)

// read fills the answer to a pull. queue may be nil.
func (p *Pull) read(queue *store.ConsumeQueue, t *pullTarget, reply *remoting.Reply) pulled {
	started := p.opts.Wire.NowMillis()
	got := edge(queue, t.offset)
	if p.opts.Rewound != nil && p.remembered(t, got.max) {
		if at := p.rewind(t, &got); at < t.offset {
			got.code, got.status, got.next = remoting.PullRetryImmediately, "OFFSET_OF_AN_EARLIER_LIFE", at
		}
	}
	p.moveToReset(t, &got)
	if got.status == "" {
		p.collect(queue, t, &got, reply)
	}
	reply.Code, reply.Remark = got.code, got.status
	head := remoting.PullMessageResponse{
		NextBeginOffset: got.next, MinOffset: got.min, MaxOffset: got.max,
		TopicSysFlag: t.topic.TopicSysFlag, GroupSysFlag: t.group.GroupSysFlag,
	}
	head.Encode(&reply.Ext)
	if got.code == remoting.Success {
		t.counters.Got(int64(got.msgs), got.bytes)
		if p.opts.InFlight != nil {
			p.opts.InFlight.Given(t.place(), t.connID, t.offset, got.next, int64(got.msgs))
		}
	} else {
		p.opts.Stats.Missed()
	}
	t.counters.GotTook(t.queueID, p.opts.Wire.NowMillis()-started)
	return got
}

// moveToReset sends a pull to where its group's offset was reset to.
func (p *Pull) moveToReset(t *pullTarget, got *pulled) {
	if !p.opts.Offsets.Resetting() {
		return
	}
	if at, ok := p.opts.Offsets.TakeReset(t.group.GroupName, t.topic.TopicName, t.queueID, t.offset); ok {
		got.code, got.status, got.next = remoting.PullOffsetMoved, "OFFSET_RESET", at
	}
}

// remembered tells whether a pull's offset is of an earlier life.
func (p *Pull) remembered(t *pullTarget, highest int64) bool {
	return p.opts.Rewound.Take(t.group.GroupName, t.topic.TopicName, t.queueID, t.offset) || t.offset > highest
}

// rewind is where a group goes on in a queue that has become shorter.
func (p *Pull) rewind(t *pullTarget, got *pulled) int64 {
	committed := p.opts.Offsets.Query([]byte(t.group.GroupName), []byte(t.topic.TopicName), t.queueID)
	return min(max(committed, got.min), got.max)
}

// edge answers a pull at an offset where the queue has nothing; the status is "" when
// there is something to read.
func edge(queue *store.ConsumeQueue, offset int64) pulled {
	if queue == nil {
		return nothing(offset, "NO_MATCHED_LOGIC_QUEUE", pulled{})
	}
	got := pulled{min: queue.Min(), max: queue.Max()}
	switch {
	case got.max == 0:
		return nothing(offset, "NO_MESSAGE_IN_QUEUE", got)
	case offset < got.min:
		got.code, got.status, got.next = remoting.PullOffsetMoved, "OFFSET_TOO_SMALL", got.min
	case offset == got.max:
		got.code, got.status, got.next = remoting.PullNotFound, "OFFSET_OVERFLOW_ONE", offset
	case offset > got.max:
		got.code, got.status, got.next = remoting.PullOffsetMoved, "OFFSET_OVERFLOW_BADLY", got.max
	}
	return got
}

// nothing sends a client that is not at 0 back there.
func nothing(offset int64, status string, got pulled) pulled {
	got.code, got.status = remoting.PullNotFound, status
	if offset != 0 {
		got.code = remoting.PullOffsetMoved
	}
	return got
}

// collect takes records into the reply until a limit is reached.
func (p *Pull) collect(queue *store.ConsumeQueue, t *pullTarget, got *pulled, reply *remoting.Reply) {
	b := newBatch()
	removed := p.records.collect(queue, &want{
		topic: t.topic.TopicName, queueID: t.queueID, offset: t.offset, maxNums: t.maxNums, filter: t.filter,
	}, b, got, reply)
	p.conclude(got, t.offset, removed)
	if got.msgs == 0 {
		b.free()
		return
	}
	reply.Release = b.release
}

// conclude sets code and status of what collect found.
func (p *Pull) conclude(got *pulled, from int64, removed bool) {
	switch {
	case got.msgs > 0:
		got.code, got.status = remoting.Success, "FOUND"
	case removed:
		got.code, got.status = remoting.PullRetryImmediately, "MESSAGE_WAS_REMOVING"
	case got.next == from:
		got.code, got.status = remoting.PullNotFound, "OFFSET_FOUND_NULL"
	default:
		got.code, got.status = remoting.PullRetryImmediately, "NO_MATCHED_MESSAGE"
	}
}

// apart tells whether a pull finds something that takes too long to be read on the event loop.
func (p *Pull) apart(queue *store.ConsumeQueue, t *pullTarget) bool {
	if t.filter.Slow() {
		return queue != nil && t.offset >= queue.Min() && t.offset < queue.Max()
	}
	return p.records.cold(queue, t.offset)
}
