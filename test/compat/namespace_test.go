package compat

import (
	"context"
	"testing"

	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"

	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// TestNamespaces_AreApart: two instances with one topic and one group name see only what is their own,
// retries included.
func TestNamespaces_AreApart(t *testing.T) {
	t.Parallel()
	l := newLab(t, 1)
	boxes := make(map[string]*inbox)
	for _, instance := range []string{"MQ_INST_1", "MQ_INST_2"} {
		topic, group := instance+"%"+l.topic, instance+"%"+l.group
		l.wire.MustCreateTopic(t, topic, 1)
		wire.Introduce(t, l.server.BrokerAddr, group, topic)
		box := newInbox()
		box.decide = func(ctx context.Context, m *primitive.MessageExt) consumer.ConsumeResult {
			if m.ReconsumeTimes > 0 {
				return consumer.ConsumeSuccess
			}
			concurrently, _ := primitive.GetConcurrentlyCtx(ctx)
			concurrently.DelayLevelWhenNextConsume = 1
			return consumer.ConsumeRetryLater
		}
		boxes[instance] = l.push(t, box, consumer.MessageSelector{}, consumer.WithNamespace(instance))
		send(t, l.producer(t, producer.WithNamespace(instance)), l.message("of %s", instance))
	}
	for instance, box := range boxes {
		// The Go client shows the whole name of a topic to the application.
		suite.Eventually(t, limit, "the message and its retry arrive", func() bool { return len(box.all()) >= 2 })
		for i, a := range box.all() {
			if string(a.Body) != "of "+instance || int(a.ReconsumeTimes) != i || a.Topic != instance+"%"+l.topic {
				t.Errorf("%s got %q of topic %s, retry %d; want its own message, retry %d", instance, a.Body, a.Topic, a.ReconsumeTimes, i)
			}
		}
		if n := l.wire.MaxOffset(t, instance+"%"+l.topic, 0); n != 1 {
			t.Errorf("the topic of %s holds %d messages, want 1", instance, n)
		}
	}
	if n := l.stored(t); n != 0 {
		t.Errorf("the topic without an instance holds %d messages", n)
	}
}
