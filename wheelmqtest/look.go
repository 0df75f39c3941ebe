package wheelmqtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/control"
	"github.com/wheelmq/wheelmq/message"
)

// The words of package control.
type (
	Message    = control.Message
	Pending    = control.Pending
	Difference = control.Difference
	Exchange   = control.Exchange
	Moved      = control.Moved
	Until      = control.Until
)

// ToProduce is a message for Produce.
type ToProduce = control.Produce

// Produce stores a message as if a client had sent it, and returns its id (UNIQ_KEY).
func (mq *Broker) Produce(msg ToProduce) (msgID string) {
	mq.t.Helper()
	mq.within("produce to "+msg.Topic, startLimit, func(ctx context.Context) error {
		stored, err := mq.Control().Produce(ctx, msg)
		msgID = stored.MsgID
		return err
	})
	return msgID
}

// Messages are those of a topic in the order they were stored; none of a topic that does not
// exist.
func (mq *Broker) Messages(topic string) []Message {
	mq.t.Helper()
	list, err := mq.Control().Messages(topic)
	if !errors.Is(err, control.ErrNotFound) {
		mq.must("messages of "+topic, err)
	}
	return list
}

// DLQ are a group's dead letters: the messages that were retried as often as it allows.
func (mq *Broker) DLQ(group string) []Message {
	mq.t.Helper()
	return mq.Messages(message.PrefixDLQ + group)
}

// Lag is how many messages of a topic a group has not committed; of all its topics when topic
// is "". Clients commit every few seconds of real time: WaitConsumed knows sooner.
func (mq *Broker) Lag(group, topic string) int64 {
	mq.t.Helper()
	lag, err := mq.Control().Lag(group, topic)
	mq.must("lag", err)
	return lag.Lag
}

// Differences are what the test relied on so far that RocketMQ 5.5.0 does not do. With
// Profile("5.5.0") only those are left that cannot be switched off.
func (mq *Broker) Differences() []Difference { return mq.Control().Differences() }

func differenceTable(list []Difference) string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	for _, d := range list {
		fmt.Fprintf(w, "  %s\t%d×\tRocketMQ: %s\n", d.Name, d.Count, d.Real)
	}
	// A strings.Builder takes everything.
	_ = w.Flush()
	return out.String()
}

// WaitMessages waits until a topic has at least n messages and returns all.
func (mq *Broker) WaitMessages(topic string, n int, timeout time.Duration) []Message {
	mq.t.Helper()
	mq.await(timeout, func() (bool, string) {
		have := mq.Control().Stored(topic)
		return have >= int64(n), fmt.Sprintf("topic %s has %d messages, want %d", topic, have, n)
	})
	return mq.Messages(topic)
}

// pollEvery is how often a condition is looked at while it is waited for, ms of real time.
const pollEvery = 2

// await waits of real time for a condition, or ends the test with what lacks.
func (mq *Broker) await(timeout time.Duration, holds func() (bool, string)) {
	mq.t.Helper()
	real := clock.Real{}
	alarm := real.NewTimer()
	defer alarm.Disarm()
	deadline := real.NowMillis() + timeout.Milliseconds()
	for {
		ok, lacks := holds()
		if ok {
			return
		}
		if real.NowMillis() >= deadline {
			mq.t.Fatalf("wheelmqtest: after %v %s", timeout, lacks)
		}
		alarm.Arm(real.NowMillis() + pollEvery)
		<-alarm.C()
	}
}

// Exchanges are the last requests of clients and their answers, oldest first; what clients say
// over and over is one row. A test that fails shows them.
func (mq *Broker) Exchanges() []Exchange { return mq.Control().Exchanges() }

// Pending are the messages that wait for their time, in due order.
func (mq *Broker) Pending() []Pending {
	mq.t.Helper()
	var list []Pending
	mq.within("pending messages", startLimit, func(ctx context.Context) (err error) {
		list, err = mq.Control().Pending(ctx)
		return err
	})
	return list
}
