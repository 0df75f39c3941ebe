package admin

import (
	"context"

	"github.com/wheelmq/wheelmq/remoting"
)

// Flight is a message that a group was given by a pop and has not acknowledged.
type Flight struct {
	PopMs int64 `json:"popMs"` // when it was given, ms since the epoch
	DueMs int64 `json:"dueMs"` // when it is visible again
}

// Flight asks whether a message is in flight for a group (QUERY_CONSUME_QUEUE, 321). known is false when
// the broker does not tell, as the real one.
func (c *Client) Flight(ctx context.Context, b Broker, group string, m *Message) (f Flight, inFlight, known bool, err error) {
	request := &remoting.QueryConsumeQueueRequest{Topic: m.Topic, QueueID: m.QueueID, Index: m.QueueOffset, Count: 1, ConsumerGroup: group}
	var got struct {
		QueueData []struct {
			Pop *struct {
				PopMs int64 `json:"popTime"`
				DueMs int64 `json:"invisibleUntil"`
			} `json:"popInFlight"`
		} `json:"queueData"`
		Known bool `json:"popInFlightKnown"`
	}
	if err := c.read(ctx, b.Addr, remoting.QueryConsumeQueue, request, &got); err != nil {
		return f, false, false, err
	}
	if len(got.QueueData) == 0 || got.QueueData[0].Pop == nil {
		return f, false, got.Known, nil
	}
	return Flight(*got.QueueData[0].Pop), true, true, nil
}
