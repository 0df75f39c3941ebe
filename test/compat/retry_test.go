package compat

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// retryLevel 1 is 1 s, so that three attempts take two seconds.
const retryLevel = 1

func alwaysFails(ctx context.Context, _ *primitive.MessageExt) consumer.ConsumeResult {
	concurrently, _ := primitive.GetConcurrentlyCtx(ctx)
	concurrently.DelayLevelWhenNextConsume = retryLevel
	return consumer.ConsumeRetryLater
}

// TestRetriesThenDeadLetterQueue fails a message until its two retries are used
// up; a message beside it succeeds at the second attempt.
func TestRetriesThenDeadLetterQueue(t *testing.T) {
	t.Parallel()
	l := newLab(t, 2)
	p := l.producer(t)
	box := newInbox()
	box.decide = func(ctx context.Context, m *primitive.MessageExt) consumer.ConsumeResult {
		if string(m.Body) == "recovers" && m.ReconsumeTimes == 1 {
			return consumer.ConsumeSuccess
		}
		return alwaysFails(ctx, m)
	}
	l.push(t, box, consumer.MessageSelector{}, consumer.WithMaxReconsumeTimes(2))
	doomed := l.message("doomed").WithTag("t")
	doomed.WithKeys([]string{"k"})
	result := send(t, p, doomed)
	send(t, p, l.message("recovers"))

	c := wire.Dial(t, l.server.BrokerAddr)
	dead := c.MustPull(t, wire.Pull{Group: suite.Name(t, "reader"), Topic: "%DLQ%" + l.group, Suspend: limit})
	for dead.Code != wire.Success {
		// The queue did not exist yet, or nothing came within the suspend time.
		if dead.Code != wire.TopicNotExist && dead.Code != wire.PullNotFound {
			t.Fatalf("dead letter queue: %v", dead.Frame)
		}
		time.Sleep(50 * time.Millisecond)
		dead = c.MustPull(t, wire.Pull{Group: suite.Name(t, "reader"), Topic: "%DLQ%" + l.group, Suspend: limit})
	}
	if len(dead.Messages) != 1 || string(dead.Messages[0].Body) != "doomed" {
		t.Fatalf("%d dead letters, want the doomed message", len(dead.Messages))
	}
	m := dead.Messages[0]
	for name, want := range map[string]string{
		"RETRY_TOPIC": l.topic, "ORIGIN_MESSAGE_ID": result.OffsetMsgID, "UNIQ_KEY": result.MsgID, "TAGS": "t", "KEYS": "k",
	} {
		if m.Properties[name] != want {
			t.Errorf("property %s of the dead letter is %q, want %q", name, m.Properties[name], want)
		}
	}
	suite.Eventually(t, limit, "the other message recovers", func() bool { return box.counts()["recovers"] >= 2 })

	var previous time.Time
	attempts := map[string]int32{}
	for _, a := range box.all() {
		body := string(a.Body)
		if a.ReconsumeTimes != attempts[body] {
			t.Errorf("attempt %d at %q has reconsumeTimes %d", attempts[body], body, a.ReconsumeTimes)
		}
		attempts[body]++
		if body != "doomed" {
			continue
		}
		if a.Topic != l.topic || a.MsgId != result.MsgID {
			t.Errorf("the application sees topic %s and id %s, want %s and %s", a.Topic, a.MsgId, l.topic, result.MsgID)
		}
		if !previous.IsZero() && a.at.Sub(previous) < time.Second {
			t.Errorf("a retry came after %v, want at least 1 s", a.at.Sub(previous))
		}
		previous = a.at
	}
	if attempts["doomed"] != 3 || attempts["recovers"] != 2 {
		t.Errorf("attempts %v, want 3 at the doomed one and 2 at the other", attempts)
	}
}

// TestFirstRetryOfNewGroup_DoesNotWaitForTheNextRoute leaves out what the other
// tests do for the client: the retry topic of a group that nobody knows must
// have a route when the client asks for it the first time, or the first retry
// waits until the client asks again, 30 s later.
func TestFirstRetryOfNewGroup_DoesNotWaitForTheNextRoute(t *testing.T) {
	t.Parallel()
	// A second of delay against the 20 s or more of the next route and rebalance.
	const prompt = 10 * time.Second
	took := firstRetry(t)
	for more := 2; took >= prompt && more > 0 && peer.TargetKind() == peer.Ours; more-- {
		t.Logf("the first retry arrived after %v: again, for the machine may have stalled", took.Round(time.Second))
		took = firstRetry(t)
	}
	suite.Differs(t, "compat/first-retry-of-new-group", took < prompt, fmt.Sprintf("the first retry arrived after %v", took.Round(time.Second)))
}

// firstRetry has a new group fail at a message once, and returns after how long it comes again.
func firstRetry(t *testing.T) time.Duration {
	t.Helper()
	l := newLab(t, 1)
	l.group = suite.Name(t, "unknown")
	box := newInbox()
	box.decide = func(ctx context.Context, m *primitive.MessageExt) consumer.ConsumeResult {
		if m.ReconsumeTimes > 0 {
			return consumer.ConsumeSuccess
		}
		return alwaysFails(ctx, m)
	}
	l.push(t, box, consumer.MessageSelector{})
	send(t, l.producer(t), l.message("again"))
	suite.Eventually(t, limit, "the retry arrives", func() bool { return box.counts()["again"] >= 2 })
	all := box.all()
	return all[1].at.Sub(all[0].at)
}
