package embed

import (
	"os"
	"sync"
	"testing"
	"time"

	rocketmq "github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"

	"github.com/wheelmq/wheelmq/test/goclient"
	"github.com/wheelmq/wheelmq/wheelmqtest"
)

func TestMain(m *testing.M) {
	goclient.Quiet()
	os.Exit(m.Run())
}

// limit is of real time, for what takes milliseconds.
const limit = 3 * time.Minute

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
func consume(t *testing.T, mq *wheelmqtest.Broker, group, topic string, handle goclient.Handler) *inbox {
	t.Helper()
	box := new(inbox)
	goclient.Consumer(t, mq.NameServerAddr(), group, topic, func(m *primitive.MessageExt) consumer.ConsumeResult {
		box.add(m)
		return handle(m)
	})
	return box
}
