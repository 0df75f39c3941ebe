package admin

import (
	"context"
	"strconv"
	"strings"

	"github.com/wheelmq/wheelmq/message"
)

// HalfEnded tells whether a transaction has ended, that is, whether a record of the op topic names its
// half message. Those that were written since the half message are looked through.
func (c *Client) HalfEnded(ctx context.Context, b Broker, half *Message) (bool, error) {
	queues, err := c.queuesOf(ctx, b, message.TopicTransOpHalf)
	if err != nil {
		return false, err
	}
	for _, q := range queues {
		from, err := c.offsetAt(ctx, b, message.TopicTransOpHalf, q.ID, half.StoreMs)
		if err != nil {
			return false, err
		}
		e := end{b, q, q.Max}
		ops, err := c.readQueue(ctx, &Tail{Topic: message.TopicTransOpHalf}, &e, from)
		if err != nil {
			return false, err
		}
		for i := range ops {
			if names(string(ops[i].Body), half.QueueOffset) {
				return true, nil
			}
		}
	}
	return false, nil
}

// names tells whether a list of offsets with commas has one.
func names(list string, offset int64) bool {
	want := strconv.FormatInt(offset, 10)
	for item := range strings.SplitSeq(list, ",") {
		if item == want {
			return true
		}
	}
	return false
}
