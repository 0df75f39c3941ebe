package broker

import (
	"fmt"
	"slices"

	"github.com/wheelmq/wheelmq/broker/offset"
	"github.com/wheelmq/wheelmq/broker/rewind"
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/message"
)

// EachMessage shows every message of a topic's queues, queue by queue, until visit returns an
// error. What visit is given is valid until it returns.
func (b *Broker) EachMessage(topicName string, visit func(v *message.View) error) error {
	for _, q := range b.store.Queues(topicName) {
		for at := q.Min(); at < q.Max(); at++ {
			u, ok := q.Unit(at)
			if !ok {
				continue // deleted meanwhile
			}
			if err := b.visit(u.CommitLogOffset, u.Size, visit); err != nil {
				return fmt.Errorf("broker: topic %s, queue %d, offset %d: %w", topicName, q.QueueID(), at, err)
			}
		}
	}
	return nil
}

func (b *Broker) visit(commitLogOffset int64, size int32, visit func(v *message.View) error) error {
	record, err := b.store.Record(commitLogOffset, size)
	if err != nil {
		return err
	}
	defer record.Release()
	v, err := message.Parse(record.Bytes)
	if err != nil {
		return err
	}
	return visit(&v)
}

// Stored is how many messages a topic's queues hold.
func (b *Broker) Stored(topicName string) (n int64) {
	for _, q := range b.store.Queues(topicName) {
		n += q.Max() - q.Min()
	}
	return n
}

// TopicConfig is a topic's configuration, or nil.
func (b *Broker) TopicConfig(name string) *topic.Config { return b.topics.GetString(name) }

// Groups are the names of the subscription groups that are not the system's, sorted.
func (b *Broker) Groups() []string {
	var names []string
	for _, g := range b.groups.All() {
		if !b.groups.System(g.GroupName) {
			names = append(names, g.GroupName)
		}
	}
	slices.Sort(names)
	return names
}

// Lag is how many messages of a topic a group has not committed.
func (b *Broker) Lag(group, topicName string) (lag int64) {
	for _, q := range b.store.Queues(topicName) {
		from := b.offsets.Query([]byte(group), []byte(topicName), q.QueueID())
		if from == offset.None {
			from = q.Min()
		}
		lag += max(0, q.Max()-max(from, q.Min()))
	}
	return lag
}

// GroupTopics are the topics that a group has committed offsets of or has subscribed to, sorted.
func (b *Broker) GroupTopics(group string) []string {
	names := b.offsets.Topics(group)
	if g := b.clients.Group([]byte(group)); g != nil {
		for _, s := range g.Subscriptions() {
			names = append(names, string(s.Topic))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// KnowsGroup tells whether a group exists or has clients.
func (b *Broker) KnowsGroup(group string) bool {
	return b.groups.Get(group) != nil || b.clients.Group([]byte(group)) != nil
}

// Remember notes how far clients have pulled.
func (b *Broker) Remember(m *rewind.Memory) { b.offsets.EachPulled(m.Note) }
