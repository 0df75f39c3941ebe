package testapi

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	rocketmq "github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"
	"github.com/apache/rocketmq-client-go/v2/rlog"

	"github.com/wheelmq/wheelmq/test/suite"
)

func quietClients() { rlog.SetLogLevel("fatal") }

// limit ends a test whose messages never come.
const limit = 60 * time.Second

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	suite.Eventually(t, limit, what, ok)
}

// instances numbers the clients: the library shares connections between clients of one name.
var instances atomic.Int64

func instanceName() string { return fmt.Sprintf("testapi-%d", instances.Add(1)) }

// produceTwice sends one message with a client that sends again when no answer comes.
func produceTwice(s *server, topic string) error {
	p, err := rocketmq.NewProducer(
		producer.WithNameServer(primitive.NamesrvAddr{s.NameServer}), producer.WithInstanceName(instanceName()), producer.WithGroupName("testapi"),
		producer.WithSendMsgTimeout(500*time.Millisecond), producer.WithRetry(5),
	)
	if err != nil {
		return err
	}
	if err := p.Start(); err != nil {
		return err
	}
	_, sent := p.SendSync(context.Background(), primitive.NewMessage(topic, []byte("once")))
	if err := p.Shutdown(); err != nil {
		return err
	}
	return sent
}

// consume runs a push consumer whose listener is the test's.
func (s *server) consume(t *testing.T, group, topic string, listen func(*primitive.MessageExt) consumer.ConsumeResult) {
	t.Helper()
	c, err := rocketmq.NewPushConsumer(
		consumer.WithNameServer(primitive.NamesrvAddr{s.NameServer}), consumer.WithInstance(instanceName()), consumer.WithGroupName(group),
		consumer.WithConsumeFromWhere(consumer.ConsumeFromFirstOffset),
	)
	if err != nil {
		t.Fatal(err)
	}
	err = c.Subscribe(topic, consumer.MessageSelector{}, func(_ context.Context, list ...*primitive.MessageExt) (consumer.ConsumeResult, error) {
		return listen(list[0]), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Shutdown() })
}

type consumedCount struct {
	Group    string
	Consumed int64
}

func TestConsumed_IsWaitedFor(t *testing.T) {
	t.Parallel()
	s := startVirtual(t)
	s.ok(t, "PUT", "/test/topics/orders?queues=2", nil)
	for range 3 {
		s.post(t, "/test/messages", m{"topic": "orders", "text": "x"})
	}
	s.fails(t, "GET", "/test/groups/billing/consumed", nil, 404, "not-found", "billing")
	s.fails(t, "GET", "/test/groups/billing/consumed?atLeast=1&timeout=50ms", nil, 408, "timeout", "has consumed 0 messages, not 1")
	s.consume(t, "billing", "orders", func(*primitive.MessageExt) consumer.ConsumeResult { return consumer.ConsumeSuccess })
	got := into[consumedCount](t, s.get(t, "/test/groups/billing/consumed?atLeast=3&timeout=60s"))
	if got.Group != "billing" || got.Consumed != 3 {
		t.Errorf("consumed %+v", got)
	}
	if got := into[consumedCount](t, s.get(t, "/test/groups/billing/consumed")); got.Consumed != 3 {
		t.Errorf("without waiting: %+v", got)
	}
	s.fails(t, "GET", "/test/groups/billing/consumed?atLeast=4&timeout=200ms", nil, 408, "timeout", "has consumed 3 messages, not 4")
	s.post(t, "/test/messages", m{"topic": "orders", "text": "later", "delayLevel": 9})
	s.post(t, "/test/clock/advance-until?group=billing&consumed=4&limit=1h", nil)
}

// TestRetries_RunToTheDeadLetter goes through the whole chain with a real client.
func TestRetries_RunToTheDeadLetter(t *testing.T) {
	t.Parallel()
	s := startVirtual(t)
	s.ok(t, "PUT", "/test/topics/orders?queues=1", nil)
	s.ok(t, "PUT", "/test/groups/billing?maxRetry=16", nil)
	var calls atomic.Int32
	s.consume(t, "billing", "orders", func(*primitive.MessageExt) consumer.ConsumeResult {
		calls.Add(1)
		return consumer.ConsumeRetryLater
	})
	s.post(t, "/test/messages", m{"topic": "orders", "text": "poison"})
	begin := s.clock(t).NowMs
	got := into[moved](t, s.post(t, "/test/clock/advance-until", m{"until": m{"topic": "%DLQ%billing"}, "limit": "5h"}))
	dead := into[messageList](t, s.get(t, "/test/groups/billing/dlq"))
	if dead.Total != 1 || string(dead.Messages[0].Body) != "poison" {
		t.Errorf("dead letters: %+v", dead)
	}
	if calls.Load() != 17 || got.NowMs-begin < 4*hour+30*60_000 {
		t.Errorf("the listener was called %d times in %v", calls.Load(), time.Duration(got.NowMs-begin)*time.Millisecond)
	}
}

// TestBusy: a listener that does not return keeps the clock from going on.
func TestBusy(t *testing.T) {
	t.Parallel()
	s := startVirtual(t)
	s.ok(t, "PUT", "/test/topics/orders?queues=1", nil)
	entered, leave := make(chan struct{}, 1), make(chan struct{})
	t.Cleanup(func() { close(leave) })
	s.consume(t, "billing", "orders", func(*primitive.MessageExt) consumer.ConsumeResult {
		select {
		case entered <- struct{}{}:
		default:
		}
		<-leave
		return consumer.ConsumeSuccess
	})
	s.post(t, "/test/messages", m{"topic": "orders", "text": "x"})
	<-entered
	s.post(t, "/test/messages", m{"topic": "later", "text": "x", "delayLevel": 1})
	s.fails(t, "POST", "/test/clock/advance-until?topic=later&timeout=1s", nil, 408, "busy", "billing")
}
