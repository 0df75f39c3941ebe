package shop

import (
	"context"
	"testing"
	"time"

	"github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"

	"github.com/wheelmq/wheelmq/wheelmqtest"
)

func TestOrders(t *testing.T) {
	mq := wheelmqtest.Start(t, wheelmqtest.Topic("orders", 1))
	servers := primitive.NamesrvAddr{mq.NameServerAddr()}
	p, err := rocketmq.NewProducer(producer.WithNameServer(servers), producer.WithGroupName("shop"))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	defer p.Shutdown()
	if _, err := p.SendSync(context.Background(), primitive.NewMessage("orders", []byte("one"))); err != nil {
		t.Fatal(err)
	}
	got := make(chan string, 1)
	c, err := rocketmq.NewPushConsumer(consumer.WithNameServer(servers), consumer.WithGroupName("billing"), consumer.WithConsumeFromWhere(consumer.ConsumeFromFirstOffset))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Subscribe("orders", consumer.MessageSelector{}, func(_ context.Context, messages ...*primitive.MessageExt) (consumer.ConsumeResult, error) {
		for _, m := range messages {
			got <- string(m.Body)
		}
		return consumer.ConsumeSuccess, nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Shutdown()
	select {
	case body := <-got:
		if body != "one" {
			t.Errorf("got %q", body)
		}
	case <-time.After(3 * time.Minute):
		t.Fatal("nothing was consumed")
	}
}
