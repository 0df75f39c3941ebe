package testapi

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"

	"github.com/wheelmq/wheelmq/test/goclient"
	"github.com/wheelmq/wheelmq/test/suite"
)

// limit ends a test whose messages never come.
const limit = 3 * time.Minute

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	suite.Eventually(t, limit, what, ok)
}

// resend are the options of a client that soon sends again when no answer comes.
var resend = []producer.Option{producer.WithSendMsgTimeout(500 * time.Millisecond), producer.WithRetry(60)}

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
	goclient.Consumer(t, s.NameServer, "billing", "orders", goclient.Succeeds)
	got := into[consumedCount](t, s.get(t, "/test/groups/billing/consumed?atLeast=3&timeout=110s"))
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
	goclient.Consumer(t, s.NameServer, "billing", "orders", func(*primitive.MessageExt) consumer.ConsumeResult {
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
	goclient.Consumer(t, s.NameServer, "billing", "orders", func(*primitive.MessageExt) consumer.ConsumeResult {
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
