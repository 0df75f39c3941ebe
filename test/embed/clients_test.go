package embed

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	rocketmq "github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"
	"github.com/apache/rocketmq-client-go/v2/rlog"

	"github.com/wheelmq/wheelmq/wheelmqtest"
)

func TestMain(m *testing.M) {
	// The client logs every look at a topic that does not exist yet.
	rlog.SetLogLevel("fatal")
	os.Exit(m.Run())
}

// limit is of real time, for what takes milliseconds.
const limit = 30 * time.Second

// instances numbers the clients: the library shares connections between those of one name.
var instances atomic.Int64

func instance() string { return fmt.Sprintf("embed-%d", instances.Add(1)) }

func newProducer(t *testing.T, mq *wheelmqtest.Broker, opts ...producer.Option) rocketmq.Producer {
	t.Helper()
	p, err := rocketmq.NewProducer(append([]producer.Option{
		producer.WithNameServer(primitive.NamesrvAddr{mq.NameServerAddr()}), producer.WithGroupName("shop"), producer.WithInstanceName(instance()),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Shutdown() })
	return p
}

func send(t *testing.T, p rocketmq.Producer, m *primitive.Message) *primitive.SendResult {
	t.Helper()
	result, err := p.SendSync(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	if result.Status != primitive.SendOK {
		t.Fatalf("send status %v", result.Status)
	}
	return result
}

// inbox is what a consumer got.
type inbox struct {
	mu       sync.Mutex // guards messages
	messages []*primitive.MessageExt
}

func (b *inbox) add(m *primitive.MessageExt) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.messages = append(b.messages, m)
}

func (b *inbox) all() []*primitive.MessageExt {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]*primitive.MessageExt(nil), b.messages...)
}

func (b *inbox) len() int { return len(b.all()) }

// await waits of real time until n messages came.
func (b *inbox) await(t *testing.T, n int) []*primitive.MessageExt {
	t.Helper()
	for deadline := time.Now().Add(limit); b.len() < n; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d messages came, want %d", b.len(), n)
		}
	}
	return b.all()
}

// consume starts a push consumer that decides each message by handle.
func consume(t *testing.T, mq *wheelmqtest.Broker, group, topic string, handle func(*primitive.MessageExt) consumer.ConsumeResult, opts ...consumer.Option) *inbox {
	t.Helper()
	c, err := rocketmq.NewPushConsumer(append([]consumer.Option{
		consumer.WithNameServer(primitive.NamesrvAddr{mq.NameServerAddr()}), consumer.WithGroupName(group), consumer.WithInstance(instance()),
		consumer.WithConsumeFromWhere(consumer.ConsumeFromFirstOffset),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	box := new(inbox)
	if err := c.Subscribe(topic, consumer.MessageSelector{}, func(_ context.Context, messages ...*primitive.MessageExt) (consumer.ConsumeResult, error) {
		for _, m := range messages {
			box.add(m)
			if result := handle(m); result != consumer.ConsumeSuccess {
				return result, nil
			}
		}
		return consumer.ConsumeSuccess, nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Shutdown() })
	return box
}

func succeeds(*primitive.MessageExt) consumer.ConsumeResult { return consumer.ConsumeSuccess }
func fails(*primitive.MessageExt) consumer.ConsumeResult    { return consumer.ConsumeRetryLater }
