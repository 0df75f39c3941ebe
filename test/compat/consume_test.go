package compat

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	rocketmq "github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"

	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// TestPushConcurrently_RunsInParallelAndCommits holds every message until
// several are in hand at once.
func TestPushConcurrently_RunsInParallelAndCommits(t *testing.T) {
	t.Parallel()
	l := newLab(t, 4)
	p := l.producer(t)
	want := numbered("concurrent", 200)
	for _, body := range want {
		if err := p.SendOneWay(t.Context(), primitive.NewMessage(l.topic, []byte(body))); err != nil {
			t.Fatal(err)
		}
	}
	const together = 5
	var inHand sync.WaitGroup
	inHand.Add(together)
	var mu sync.Mutex
	entered := 0
	box := newInbox()
	box.decide = func(context.Context, *primitive.MessageExt) consumer.ConsumeResult {
		mu.Lock()
		entered++
		if entered <= together {
			inHand.Done()
		}
		mu.Unlock()
		inHand.Wait()
		return consumer.ConsumeSuccess
	}
	l.push(t, box, consumer.MessageSelector{}, consumer.WithConsumeGoroutineNums(together))
	box.wantOnce(t, want...)
	l.committed(t, len(want))
}

// TestPushOrderly_KeepsTheOrderOfEachKey lets one message fail twice: it comes
// again before its successors.
func TestPushOrderly_KeepsTheOrderOfEachKey(t *testing.T) {
	t.Parallel()
	l := newLab(t, 4)
	p := l.producer(t, producer.WithQueueSelector(producer.NewHashQueueSelector()))
	const each = 25
	keys := []string{"anna", "bert", "cleo", "dora"}
	for i := range each {
		for _, key := range keys {
			send(t, p, l.message("%s %d", key, i).WithShardingKey(key))
		}
	}
	const stubborn = "bert 7"
	var mu sync.Mutex
	failures := 0
	box := newInbox()
	box.decide = func(ctx context.Context, m *primitive.MessageExt) consumer.ConsumeResult {
		mu.Lock()
		defer mu.Unlock()
		if string(m.Body) == stubborn && failures < 2 {
			failures++
			orderly, _ := primitive.GetOrderlyCtx(ctx)
			orderly.SuspendCurrentQueueTimeMillis = 50
			return consumer.SuspendCurrentQueueAMoment
		}
		return consumer.ConsumeSuccess
	}
	l.push(t, box, consumer.MessageSelector{}, consumer.WithConsumerOrder(true))
	box.wait(t, each*len(keys))
	seen := make(map[string][]string)
	for _, a := range box.all() {
		key, _, _ := strings.Cut(string(a.Body), " ")
		seen[key] = append(seen[key], string(a.Body))
	}
	for _, key := range keys {
		// Repetitions of the stubborn message are neighbours, or the order is broken.
		if got := slices.Compact(seen[key]); !slices.Equal(got, numbered(key, each)) {
			t.Errorf("%s arrived as %q", key, got)
		}
	}
	if n := box.counts()[stubborn]; n != 3 {
		t.Errorf("%q was tried %d times, want 3", stubborn, n)
	}
}

func TestPushBroadcast_EveryMemberGetsEverything(t *testing.T) {
	t.Parallel()
	l := newLab(t, 4)
	p := l.producer(t)
	want := numbered("broadcast", 20)
	for _, body := range want {
		send(t, p, primitive.NewMessage(l.topic, []byte(body)))
	}
	for range 3 {
		l.consume(t, consumer.WithConsumerModel(consumer.BroadCasting)).wantOnce(t, want...)
	}
}

func TestPushWithTags_GetsOnlyThose(t *testing.T) {
	t.Parallel()
	l := newLab(t, 2)
	p := l.producer(t)
	var want []string
	for i := range 30 {
		tag := []string{"red", "green", "blue"}[i%3]
		m := l.message("%s %d", tag, i).WithTag(tag)
		if tag != "green" {
			want = append(want, string(m.Body))
		}
		send(t, p, m)
	}
	box := l.push(t, newInbox(), consumer.MessageSelector{Type: consumer.TAG, Expression: "red || blue"})
	box.wantOnce(t, want...)
}

func TestPullConsumer_PullsAndPolls(t *testing.T) {
	t.Parallel()
	l := newLab(t, 2)
	p := l.producer(t)
	want := numbered("pull", 40)
	for _, body := range want {
		send(t, p, primitive.NewMessage(l.topic, []byte(body)))
	}
	newConsumer := func(group string) rocketmq.PullConsumer {
		c, err := rocketmq.NewPullConsumer(
			consumer.WithNameServer(l.nameServer()), consumer.WithGroupName(group), consumer.WithInstance(instanceName()),
			consumer.WithConsumeFromWhere(consumer.ConsumeFromFirstOffset))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Subscribe(l.topic, consumer.MessageSelector{}); err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Shutdown() })
		return c
	}

	polled := make(map[string]int)
	c := newConsumer(l.group)
	for end := time.Now().Add(limit); len(polled) < len(want) && time.Now().Before(end); {
		request, err := c.Poll(t.Context(), time.Second)
		if consumer.IsNoNewMsgError(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range request.GetMsgList() {
			polled[string(m.Body)]++
		}
		c.ACK(t.Context(), request, consumer.ConsumeSuccess)
	}
	for _, body := range want {
		if polled[body] != 1 {
			t.Errorf("%q was polled %d times, want once", body, polled[body])
		}
	}

	other := suite.Name(t, "puller")
	wire.Introduce(t, l.server.BrokerAddr, other, l.topic)
	c = newConsumer(other)
	l.settle(t, len(want))
	pulled := 0
	for queue := range l.queues {
		mq := &primitive.MessageQueue{Topic: l.topic, BrokerName: "broker-a", QueueId: queue}
		result, err := c.PullFrom(t.Context(), mq, 0, 32)
		if err != nil {
			t.Fatal(err)
		}
		if result.Status != primitive.PullFound || result.NextBeginOffset != int64(len(result.GetMessageExts())) {
			t.Errorf("pull of queue %d: status %d, next %d, %d messages", queue, result.Status, result.NextBeginOffset, len(result.GetMessageExts()))
		}
		pulled += len(result.GetMessageExts())
	}
	if pulled != len(want) {
		t.Errorf("pulled %d messages, want %d", pulled, len(want))
	}
}

// TestConsumeFromWhere_ClusteringOnYoungTopic: as long as the first message is
// at hand, a new group gets the history whatever its policy says.
func TestConsumeFromWhere_ClusteringOnYoungTopic(t *testing.T) {
	t.Parallel()
	for name, where := range policies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, 1)
			want := numbered("history", 10)
			p := l.producer(t)
			for _, body := range want {
				send(t, p, primitive.NewMessage(l.topic, []byte(body)))
			}
			l.settle(t, len(want))
			l.consume(t, consumer.WithConsumeFromWhere(where)).wantOnce(t, want...)
		})
	}
}

var policies = map[string]consumer.ConsumeFromWhere{
	"first": consumer.ConsumeFromFirstOffset, "last": consumer.ConsumeFromLastOffset, "timestamp": consumer.ConsumeFromTimestamp,
}

// TestConsumeFromWhere_Broadcast shows the policies where the client itself
// applies them: broadcasting members ask the broker for the end of a queue or
// for the offset at a time.
func TestConsumeFromWhere_Broadcast(t *testing.T) {
	t.Parallel()
	// The client reads the timestamp as UTC with a resolution of a second.
	const layout = "20060102150405"
	for name, tc := range map[string]struct {
		where   consumer.ConsumeFromWhere
		stamp   time.Duration
		history bool
	}{
		"first":                       {consumer.ConsumeFromFirstOffset, 0, true},
		"last":                        {consumer.ConsumeFromLastOffset, 0, false},
		"timestamp before the topic":  {consumer.ConsumeFromTimestamp, -time.Hour, true},
		"timestamp after the history": {consumer.ConsumeFromTimestamp, time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, 1)
			p := l.producer(t)
			history := numbered("history", 10)
			for _, body := range history {
				send(t, p, primitive.NewMessage(l.topic, []byte(body)))
			}
			l.settle(t, len(history))
			box := l.consume(t, consumer.WithConsumerModel(consumer.BroadCasting), consumer.WithConsumeFromWhere(tc.where),
				consumer.WithConsumeTimestamp(time.Now().Add(tc.stamp).UTC().Format(layout)))
			if tc.history {
				box.wantOnce(t, history...)
				return
			}
			// The start is taken in the background: new messages are sent until one comes.
			sent := 0
			suite.Eventually(t, limit, "a new message arrives", func() bool {
				send(t, p, l.message("new %d", sent))
				sent++
				return len(box.all()) > 0
			})
			for body := range box.counts() {
				if strings.HasPrefix(body, "history") {
					t.Errorf("%q arrived", body)
				}
			}
		})
	}
}

// TestNextMember_GoesOnWhereTheLastOneCommitted hands over from one member to
// the next without repetition.
func TestNextMember_GoesOnWhereTheLastOneCommitted(t *testing.T) {
	t.Parallel()
	l := newLab(t, 2)
	p := l.producer(t)
	const each = 10
	for round := range 3 {
		want := numbered(fmt.Sprintf("round %d", round), each)
		for _, body := range want {
			send(t, p, primitive.NewMessage(l.topic, []byte(body)))
		}
		box := l.consume(t)
		box.wantOnce(t, want...)
		l.committed(t, each*(round+1))
		box.close(t)
	}
}
