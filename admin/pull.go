package admin

import (
	"context"
	"fmt"
	"time"

	"github.com/wheelmq/wheelmq/remoting"
)

// toolsGroup is the group by which tools read: it exists on every broker and may read what is not
// visible yet.
const toolsGroup = "TOOLS_CONSUMER"

// Bits of a pull's sysFlag.
const (
	pullSuspend      = 1 << 1
	pullSubscription = 1 << 2
)

// pullBatch is how many messages one pull asks for.
const pullBatch = 32

// Filter selects messages. The zero value takes all.
type Filter struct {
	SQL  bool
	Text string // tags as "a || b", or an SQL92 expression
}

// Pull is one read from a queue.
type Pull struct {
	Topic  string
	Queue  Queue
	From   int64 // queue offset
	Filter Filter
	Wait   time.Duration // for messages to come, when there are none
}

// Pulled is what a Pull found.
type Pulled struct {
	Messages []Message
	Next     int64 // offset to go on with
	Min, Max int64 // of the queue
}

// Pull reads messages without being a consumer: no offset is committed (PULL_MESSAGE, 11).
func (c *Client) Pull(ctx context.Context, broker Broker, p Pull) (Pulled, error) {
	kind, text := "TAG", p.Filter.Text
	if p.Filter.SQL {
		kind = "SQL92"
	}
	if text == "" {
		text = "*"
	}
	request := &remoting.PullMessageRequest{
		ConsumerGroup: []byte(toolsGroup), Topic: []byte(p.Topic), QueueID: p.Queue.ID, QueueOffset: p.From, MaxMsgNums: pullBatch,
		SysFlag: pullSubscription, SuspendTimeoutMillis: p.Wait.Milliseconds(), Subscription: []byte(text), ExpressionType: []byte(kind),
	}
	if p.Wait > 0 {
		request.SysFlag |= pullSuspend
	}
	reply, err := c.patiently(ctx, broker.Addr, remoting.PullMessage, request, nil, p.Wait)
	if err != nil {
		return Pulled{}, err
	}
	switch reply.Code {
	case remoting.Success, remoting.PullNotFound, remoting.PullRetryImmediately, remoting.PullOffsetMoved:
	default:
		return Pulled{}, &remoting.Error{Code: reply.Code, Remark: firstLine(reply.Remark)}
	}
	var head remoting.PullMessageResponse
	if err := head.Decode(&reply.Ext); err != nil {
		return Pulled{}, fmt.Errorf("admin: the header of a pull: %w", err)
	}
	got := Pulled{Next: head.NextBeginOffset, Min: head.MinOffset, Max: head.MaxOffset}
	if reply.Code == remoting.Success {
		got.Messages, err = messagesOf(reply.Body, broker.Name)
	}
	return got, err
}
