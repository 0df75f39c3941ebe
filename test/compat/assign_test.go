package compat

import (
	"slices"
	"testing"
	"time"

	rocketmq "github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"

	"github.com/wheelmq/wheelmq/test/wire"
)

// TestAssignedQueues_AreReadFromAnywhere: a pull consumer that names its queues reads from the place it
// seeks, finds places by time, and keeps its offsets on the broker.
func TestAssignedQueues_AreReadFromAnywhere(t *testing.T) {
	t.Parallel()
	l := newLab(t, 1)
	p := l.producer(t)
	all := numbered("seek", 20)
	for _, body := range all {
		send(t, p, primitive.NewMessage(l.topic, []byte(body)))
	}
	l.settle(t, len(all))
	c, err := rocketmq.NewPullConsumer(
		consumer.WithNameServer(l.nameServer()), consumer.WithGroupName(l.group), consumer.WithInstance(instanceName()),
		consumer.WithConsumeFromWhere(consumer.ConsumeFromFirstOffset))
	if err != nil {
		t.Fatal(err)
	}
	queue := &primitive.MessageQueue{Topic: l.topic, BrokerName: "broker-a", QueueId: 0}
	if err := c.Assign(l.topic, []*primitive.MessageQueue{queue}); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Shutdown() })

	if got := poll(t, c, len(all)); !slices.Equal(got, all) {
		t.Errorf("polled %q, want all in order", got)
	}
	c.SeekOffset(queue, 15)
	if got := poll(t, c, 5); !slices.Equal(got, all[15:]) {
		t.Errorf("polled %q behind a seek to 15, want %q", got, all[15:])
	}
	for at, want := range map[int64]int64{1: 0, time.Now().Add(time.Hour).UnixMilli(): int64(len(all))} {
		got, err := c.OffsetForTimestamp(queue, at)
		if err != nil || got != want {
			t.Errorf("offset at %d: %d, %v; want %d", at, got, err, want)
		}
	}
	if err := c.UpdateOffset(queue, 7); err != nil {
		t.Fatal(err)
	}
	if err := c.PersistOffset(t.Context(), l.topic); err != nil {
		t.Fatal(err)
	}
	l.committed(t, 7)
}

// poll takes n messages and acknowledges them.
func poll(t *testing.T, c rocketmq.PullConsumer, n int) (bodies []string) {
	t.Helper()
	for end := time.Now().Add(limit); len(bodies) < n; {
		if time.Now().After(end) {
			t.Fatalf("polled %q, want %d messages", bodies, n)
		}
		request, err := c.Poll(t.Context(), wire.Timeout)
		if consumer.IsNoNewMsgError(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range request.GetMsgList() {
			bodies = append(bodies, string(m.Body))
		}
		c.ACK(t.Context(), request, consumer.ConsumeSuccess)
	}
	return bodies
}
