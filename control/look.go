package control

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/wheelmq/wheelmq/message"
)

// Topics are the names of all topics, sorted; the system's too.
func (c *Control) Topics() []string {
	b, err := c.live()
	if err != nil {
		return nil
	}
	var names []string
	for _, t := range b.Topics().All() {
		names = append(names, t.TopicName)
	}
	slices.Sort(names)
	return names
}

// Groups are the names of the subscription groups but the system's, sorted.
func (c *Control) Groups() []string {
	b, err := c.live()
	if err != nil {
		return nil
	}
	return b.Groups()
}

// Messages are those of all queues of a topic in the order they were stored.
func (c *Control) Messages(topic string) ([]Message, error) {
	b, err := c.live()
	if err != nil {
		return nil, err
	}
	if b.TopicConfig(topic) == nil {
		return nil, fmt.Errorf("topic %q: %w", topic, ErrNotFound)
	}
	list := []Message{}
	err = b.EachMessage(topic, func(v *message.View) error {
		list = append(list, messageOf(v))
		return nil
	})
	slices.SortFunc(list, func(a, b Message) int { return cmp.Compare(a.CommitLogOffset, b.CommitLogOffset) })
	return list, err
}

// Stored is how many messages a topic has, 0 when it does not exist.
func (c *Control) Stored(topic string) int64 {
	b, err := c.live()
	if err != nil {
		return 0
	}
	return b.Stored(topic)
}

// messageOf copies a message.
func messageOf(v *message.View) Message {
	m := Message{
		Topic: string(v.Topic), QueueID: v.QueueID, QueueOffset: v.QueueOffset, CommitLogOffset: v.CommitLogOffset,
		OffsetMsgID: string(message.AppendOffsetID(nil, v.StoreHost, v.CommitLogOffset)),
		BornMs:      v.BornTimestamp, StoreMs: v.StoreTimestamp, ReconsumeTimes: v.ReconsumeTimes,
		Properties: make(map[string]string), Body: slices.Clone(v.Body),
	}
	message.PropertyEach(v.Properties, func(name, value []byte) { m.Properties[string(name)] = string(value) })
	m.MsgID, m.Tags, m.Keys = m.Properties[message.PropertyUniqKey], m.Properties[message.PropertyTags], m.Properties[message.PropertyKeys]
	return m
}

// Lag is how many messages of a topic a group has not committed; of all its topics when topic
// is "". Clients commit every few seconds of real time and when they end.
func (c *Control) Lag(group, topic string) (Lag, error) {
	b, err := c.live()
	if err != nil {
		return Lag{}, err
	}
	if !b.KnowsGroup(group) {
		return Lag{}, fmt.Errorf("group %q: %w", group, ErrNotFound)
	}
	lag := Lag{Group: group, Topic: topic}
	topics := []string{topic}
	if topic == "" {
		topics = b.GroupTopics(group)
	} else if b.TopicConfig(topic) == nil {
		return Lag{}, fmt.Errorf("topic %q: %w", topic, ErrNotFound)
	}
	for _, name := range topics {
		lag.Lag += b.Lag(group, name)
	}
	return lag, nil
}
