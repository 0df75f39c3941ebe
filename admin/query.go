package admin

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

// maxFound is how many messages of one key are asked for.
const maxFound = 64

// Index types of QUERY_MESSAGE.
const (
	indexUnique = "U"
	indexKey    = "K"
)

// IsOffsetID tells whether an id can be that of a record, as brokers make them: the port in it has two
// bytes. A client's id has its process there.
func IsOffsetID(id string) bool {
	_, _, err := message.ParseOffsetID(id)
	port := len(id) - 24
	return err == nil && id[port:port+4] == "0000"
}

// Stored finds the record that an offset message id names (VIEW_MESSAGE_BY_ID, 33), at whichever
// broker it is. ErrNotFound is wrapped when there is none.
func (c *Client) Stored(ctx context.Context, id string) (Message, error) {
	_, offset, err := message.ParseOffsetID(id)
	if err != nil {
		return Message{}, fmt.Errorf("admin: %w", err)
	}
	brokers, err := c.anyBroker(ctx)
	if err != nil {
		return Message{}, err
	}
	for _, b := range brokers {
		m, err := c.recordAt(ctx, b, offset)
		if err == nil && strings.EqualFold(m.OffsetMsgID, id) {
			return m, nil
		}
		if err != nil && !hasCode(err, remoting.SystemError) {
			return Message{}, err
		}
	}
	return Message{}, fmt.Errorf("admin: message %s: no record is at its offset %d: %w", id, offset, ErrNotFound)
}

func (c *Client) recordAt(ctx context.Context, b Broker, offset int64) (Message, error) {
	reply, err := c.ask(ctx, b.Addr, remoting.ViewMessageByID, &remoting.ViewMessageRequest{Offset: offset}, nil)
	if err != nil {
		return Message{}, err
	}
	v, err := message.Parse(reply.Body)
	if err != nil {
		return Message{}, remoting.Errorf(remoting.SystemError, "no record begins at the offset %d", offset)
	}
	return messageOf(&v, b.Name), nil
}

// WithKey lists the messages of a topic that have one of their KEYS, the oldest first; at most 64.
func (c *Client) WithKey(ctx context.Context, topic, key string) ([]Message, error) {
	brokers, err := c.anyBroker(ctx)
	if err != nil {
		return nil, err
	}
	return c.queryAt(ctx, brokers, topic, key, indexKey)
}

// queryAt asks brokers for messages by key (QUERY_MESSAGE, 12). The real broker answers whatever has the
// same hash: that is left out.
func (c *Client) queryAt(ctx context.Context, brokers []Broker, topic, key, index string) ([]Message, error) {
	request := &remoting.QueryMessageRequest{
		Topic: topic, Key: key, MaxNum: maxFound, EndTimestamp: math.MaxInt64, IndexType: index, UniqueKey: index == indexUnique,
	}
	var list []Message
	for _, b := range brokers {
		reply, err := c.ask(ctx, b.Addr, remoting.QueryMessage, request, nil)
		if hasCode(err, remoting.QueryNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found, err := messagesOf(reply.Body, b.Name)
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	list = slices.DeleteFunc(list, func(m Message) bool {
		return m.Topic != topic || index == indexUnique && m.MsgID != key || index == indexKey && !hasKey(m.Keys, key)
	})
	slices.SortFunc(list, func(a, b Message) int {
		return cmp.Or(cmp.Compare(a.StoreMs, b.StoreMs), cmp.Compare(a.CommitLogOffset, b.CommitLogOffset))
	})
	return list, nil
}
