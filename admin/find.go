package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/wheelmq/wheelmq/message"
)

// hidden are the topics in which messages wait that are not visible in their own.
var hidden = []string{message.TopicSchedule, message.TopicTimer, message.TopicTransHalf, message.TopicTransCheckMax, message.TopicParked}

// Find lists the records of one message, the oldest first: where it waited, where it is, its retries. The
// id is a client's or that of one record. Without a topic all topics are looked through, which show is
// told of. ErrNotFound is wrapped when there is no record.
func (c *Client) Find(ctx context.Context, id, topic string, show func(done, total int64)) ([]Message, error) {
	var found []Message
	missing := fmt.Errorf("admin: message %s: %w", id, ErrNotFound)
	if IsOffsetID(id) {
		m, err := c.Stored(ctx, id)
		switch {
		case err == nil && m.MsgID == m.OffsetMsgID:
			return []Message{m}, nil
		case err == nil:
			found = append(found, m)
			id, topic = m.MsgID, cmp.Or(m.Properties[message.PropertyRealTopic], m.Topic)
		case errors.Is(err, ErrNotFound):
			missing = err // unless it is a client's that only looks like one of a record
		default:
			return nil, err
		}
	}
	brokers, err := c.anyBroker(ctx)
	if err != nil {
		return nil, err
	}
	topics, err := c.where(ctx, brokers, topic)
	if err != nil {
		return nil, err
	}
	records := make([][]Message, len(topics))
	err = each(len(topics), show, func(i int) (err error) {
		records[i], err = c.queryAt(ctx, brokers, topics[i], id, indexUnique)
		return err
	})
	if err != nil {
		return nil, err
	}
	found = append(found, slices.Concat(records...)...)
	if len(found) == 0 {
		return nil, missing
	}
	return inOrder(found), nil
}

// where are the topics that a message's records may be in: all, or a topic of its own, those in which
// messages wait, and the retry and dead-letter topics of all groups.
func (c *Client) where(ctx context.Context, brokers []Broker, topic string) ([]string, error) {
	var names []string
	for _, b := range brokers {
		configs, system, err := c.topicConfigs(ctx, b)
		if err != nil {
			return nil, err
		}
		for _, config := range configs {
			kind := kindOf(config.TopicName, system)
			if topic == "" || config.TopicName == topic || kind == KindRetry || kind == KindDead {
				names = append(names, config.TopicName)
			}
		}
	}
	names = append(names, hidden...)
	slices.Sort(names)
	return slices.Compact(names), nil
}

// inOrder sorts records as they were stored and leaves out what is there twice.
func inOrder(list []Message) []Message {
	slices.SortFunc(list, func(a, b Message) int {
		return cmp.Or(cmp.Compare(a.StoreMs, b.StoreMs), cmp.Compare(a.CommitLogOffset, b.CommitLogOffset), cmp.Compare(a.Broker, b.Broker))
	})
	return slices.CompactFunc(list, func(a, b Message) bool {
		return a.Broker == b.Broker && a.CommitLogOffset == b.CommitLogOffset
	})
}
