// Package goclient starts the official Go client's producers and consumers for tests, each with
// a connection of its own, and ends them with the test.
package goclient

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	rocketmq "github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"
	"github.com/apache/rocketmq-client-go/v2/rlog"
)

// Quiet keeps the client's own log to itself: it complains of every look at a topic that does not
// exist yet.
func Quiet() { rlog.SetLogLevel("fatal") }

var instances atomic.Int64

// InstanceName is a new client's: the library shares connections between those of one name.
func InstanceName() string { return fmt.Sprintf("client-%d", instances.Add(1)) }

// patience is how long a producer waits for an answer: a machine that stalls gives it late.
const patience = time.Minute

// Producer starts a producer of group shop; opts come after what is set here.
func Producer(t testing.TB, nameServer string, opts ...producer.Option) rocketmq.Producer {
	t.Helper()
	p, err := rocketmq.NewProducer(append([]producer.Option{
		producer.WithNameServer(primitive.NamesrvAddr{nameServer}), producer.WithGroupName("shop"), producer.WithInstanceName(InstanceName()),
		producer.WithSendMsgTimeout(patience),
	}, opts...)...)
	if err == nil {
		err = p.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Shutdown() })
	return p
}

// Handler decides what becomes of a message.
type Handler func(*primitive.MessageExt) consumer.ConsumeResult

// Succeeds is a Handler.
func Succeeds(*primitive.MessageExt) consumer.ConsumeResult { return consumer.ConsumeSuccess }

// Fails is a Handler.
func Fails(*primitive.MessageExt) consumer.ConsumeResult { return consumer.ConsumeRetryLater }

// Consumer starts a push consumer that reads a topic from its beginning; the first message of a
// batch that does not succeed decides about the batch.
func Consumer(t testing.TB, nameServer, group, topic string, handle Handler, opts ...consumer.Option) {
	t.Helper()
	opts = append([]consumer.Option{
		consumer.WithNameServer(primitive.NamesrvAddr{nameServer}), consumer.WithGroupName(group), consumer.WithInstance(InstanceName()),
		consumer.WithConsumeFromWhere(consumer.ConsumeFromFirstOffset),
	}, opts...)
	c := Push(t, topic, consumer.MessageSelector{}, func(_ context.Context, messages ...*primitive.MessageExt) (consumer.ConsumeResult, error) {
		for _, m := range messages {
			if result := handle(m); result != consumer.ConsumeSuccess {
				return result, nil
			}
		}
		return consumer.ConsumeSuccess, nil
	}, opts...)
	t.Cleanup(func() { _ = c.Shutdown() })
}

// Push starts a push consumer, which the caller shuts down. The client asks once, for 6 s, where a topic is,
// and gives up without an answer: on a machine that stalls it is started again.
func Push(t testing.TB, topic string, selector consumer.MessageSelector,
	handle func(context.Context, ...*primitive.MessageExt) (consumer.ConsumeResult, error), opts ...consumer.Option) rocketmq.PushConsumer {
	t.Helper()
	for tries := 5; ; tries-- {
		c, err := rocketmq.NewPushConsumer(opts...)
		if err == nil {
			err = c.Subscribe(topic, selector, handle)
		}
		if err == nil {
			err = c.Start()
		}
		if err == nil {
			return c
		}
		if tries == 1 || !strings.Contains(err.Error(), "route info not found") {
			t.Fatal(err)
		}
	}
}
