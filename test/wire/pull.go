package wire

import (
	"context"
	"strconv"
	"testing"
	"time"
)

// Pull is a request for messages. The zero value of MaxMsgNums means 32, of
// Subscription "*".
type Pull struct {
	Group, Topic string
	QueueID      int
	Offset       int64
	MaxMsgNums   int
	Subscription string
	// ExpressionType is TAG when empty.
	ExpressionType string
	// Suspend asks the broker to wait that long for a message to arrive.
	Suspend time.Duration
}

// Pulled is the answer to a pull.
type Pulled struct {
	*Frame
	NextBeginOffset, MinOffset, MaxOffset int64
	Messages                              []Message
}

// Pull asks for messages with the subscription in the request. A client that
// is in no group can do so, because the broker creates the group.
func (c *Conn) Pull(ctx context.Context, p Pull) (Pulled, error) {
	if p.MaxMsgNums == 0 {
		p.MaxMsgNums = 32
	}
	if p.ExpressionType == "" {
		p.ExpressionType = "TAG"
	}
	if p.Subscription == "" && p.ExpressionType == "TAG" {
		p.Subscription = "*"
	}
	flag := PullSubscription
	if p.Suspend > 0 {
		flag |= PullSuspend
	}
	answer, err := c.Do(ctx, PullMessage, map[string]string{
		"consumerGroup": p.Group, "topic": p.Topic, "queueId": strconv.Itoa(p.QueueID),
		"queueOffset": strconv.FormatInt(p.Offset, 10), "maxMsgNums": strconv.Itoa(p.MaxMsgNums),
		"sysFlag": strconv.Itoa(flag), "commitOffset": "0",
		"suspendTimeoutMillis": strconv.FormatInt(p.Suspend.Milliseconds(), 10),
		"subVersion":           "0", "subscription": p.Subscription, "expressionType": p.ExpressionType,
	}, nil)
	if err != nil {
		return Pulled{}, err
	}
	result := Pulled{Frame: answer}
	result.NextBeginOffset, _ = strconv.ParseInt(answer.Ext["nextBeginOffset"], 10, 64)
	result.MinOffset, _ = strconv.ParseInt(answer.Ext["minOffset"], 10, 64)
	result.MaxOffset, _ = strconv.ParseInt(answer.Ext["maxOffset"], 10, 64)
	if answer.Code == Success {
		result.Messages, err = Messages(answer.Body)
	}
	return result, err
}

// MustPull is Pull that ends the test when there is no answer.
func (c *Conn) MustPull(tb testing.TB, p Pull) Pulled {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), p.Suspend+Timeout)
	defer cancel()
	got, err := c.Pull(ctx, p)
	if err != nil {
		tb.Fatalf("pull %s@%d: %v", p.Topic, p.QueueID, err)
	}
	return got
}

// PullAll pulls a queue from its beginning until the broker has nothing more.
func (c *Conn) PullAll(tb testing.TB, p Pull) []Message {
	tb.Helper()
	var all []Message
	for {
		got := c.MustPull(tb, p)
		switch got.Code {
		case Success:
			all = append(all, got.Messages...)
			p.Offset = got.NextBeginOffset
		case PullRetryImmediately:
			p.Offset = got.NextBeginOffset
		case PullNotFound:
			return all
		default:
			tb.Fatalf("pull %s@%d at %d: %v", p.Topic, p.QueueID, p.Offset, got.Frame)
		}
	}
}

// MaxOffset asks for the end of a queue (30); an unknown one has 0.
func (c *Conn) MaxOffset(tb testing.TB, topic string, queueID int) int64 {
	tb.Helper()
	answer := c.Call(tb, GetMaxOffset, map[string]string{"topic": topic, "queueId": strconv.Itoa(queueID)}, nil)
	if answer.Code != Success {
		tb.Fatalf("max offset of %s@%d: %v", topic, queueID, answer)
	}
	return answer.Int64(tb, "offset")
}

// Settle waits until a queue ends at end: the real broker appends to the
// CommitLog, answers, and adds to the queue a moment later.
func (c *Conn) Settle(tb testing.TB, topic string, queueID int, end int64) {
	tb.Helper()
	const pause = 5 * time.Millisecond
	for deadline := time.Now().Add(Timeout); ; time.Sleep(pause) {
		got := c.MaxOffset(tb, topic, queueID)
		if got == end {
			return
		}
		if got > end || time.Now().After(deadline) {
			tb.Fatalf("queue %d of %s ends at %d, want %d", queueID, topic, got, end)
		}
	}
}
