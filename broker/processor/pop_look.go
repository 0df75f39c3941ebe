package processor

import (
	"github.com/wheelmq/wheelmq/broker/offset"
	"github.com/wheelmq/wheelmq/broker/pop"
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/store"
)

// place is a queue that a pop may take from.
type place struct {
	key   pop.Key
	name  []byte // of key.Topic; valid while it is visited
	queue *store.ConsumeQueue
}

// each visits the queues that a pop may take from, until visit is false.
func (p *Pop) each(t *popTarget, visit func(*place) bool) {
	name := []byte(t.topic.TopicName)
	if t.queueID >= 0 {
		p.visit(t, name, t.topic.TopicName, t.queueID, t.queueID+1, visit)
	} else if !p.visit(t, name, t.topic.TopicName, 0, t.topic.ReadQueueNums, visit) {
		return
	}
	if t.order {
		return
	}
	for _, separator := range [...]byte{'_', '+'} {
		name = appendRetryTopic(name[:0], t.group.GroupName, separator, t.topic.TopicName)
		config := p.opts.Topics.Get(name)
		if config != nil && config.Perm&topic.PermRead != 0 && !p.visit(t, name, config.TopicName, 0, config.ReadQueueNums, visit) {
			return
		}
	}
}

func (p *Pop) visit(t *popTarget, name []byte, topicName string, from, to int32, visit func(*place) bool) bool {
	for id := from; id < to; id++ {
		queue := p.opts.Store.Queue(name, id)
		if queue == nil {
			continue
		}
		if !visit(&place{key: pop.Key{Group: t.group.GroupName, Topic: topicName, QueueID: id}, name: name, queue: queue}) {
			return false
		}
	}
	return true
}

// from is where a group's next pop from a queue begins.
func (p *Pop) from(at *place) int64 {
	committed := p.opts.Offsets.Query([]byte(at.key.Group), at.name, at.key.QueueID)
	if committed == offset.None {
		return at.queue.Min()
	}
	return max(committed, at.queue.Min())
}

// available is how many messages nobody has popped, without those that wait for an acknowledgement of
// others.
func (p *Pop) available(t *popTarget) (n int64) {
	now := p.opts.Time.NowMillis()
	p.each(t, func(at *place) bool {
		if waiting := at.queue.Max() - p.from(at); waiting > 0 && !p.blocked(t, at, now) {
			n += waiting
		}
		return true
	})
	return n
}

func (p *Pop) blocked(t *popTarget, at *place, now int64) bool {
	_, blocked := p.opts.Windows.Blocked(at.key, t.attemptID, now)
	return blocked && (t.order || p.opts.Differences.On(difference.PopBesideOrder))
}

// apart tells whether a pop finds something that takes too long to be read on the event loop.
func (p *Pop) apart(t *popTarget) (apart bool) {
	if t.filter.Slow() {
		return p.available(t) > 0
	}
	if p.records.hotFrom() <= 0 {
		return false
	}
	p.each(t, func(at *place) bool {
		apart = p.records.cold(at.queue, p.from(at))
		return !apart
	})
	return apart
}
