package faults

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	rocketmq "github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"

	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/test/goclient"
	"github.com/wheelmq/wheelmq/wheelmqtest"
)

// parallel is how many tests run at the same time: they wait far more than they compute.
const parallel = "16"

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", parallel); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	goclient.Quiet()
	m.Run()
}

const (
	topic = "orders"
	group = "billing"
	// limit ends a test whose messages never come: a client waits 30 s for the answer of a pull.
	limit = 3 * time.Minute
	// patient is how long a producer waits for an answer that comes.
	patient = time.Minute
	// impatient is how long it waits for one that does not, and for one that a machine that stalls gives late.
	impatient = 10 * time.Second
)

// start starts a server with the topic, of one queue, and the group.
func start(t *testing.T, opts ...wheelmqtest.Option) *wheelmqtest.Broker {
	t.Helper()
	t.Parallel()
	return wheelmqtest.Start(t, append([]wheelmqtest.Option{wheelmqtest.Topic(topic, 1), wheelmqtest.Group(group, 16)}, opts...)...)
}

// newProducer starts a producer that sends again as often as given.
func newProducer(t *testing.T, mq *wheelmqtest.Broker, retries int, timeout time.Duration) rocketmq.Producer {
	t.Helper()
	return goclient.Producer(t, mq.NameServerAddr(), producer.WithRetry(retries), producer.WithSendMsgTimeout(timeout))
}

func send(t *testing.T, p rocketmq.Producer, bodies ...string) (*primitive.SendResult, error) {
	t.Helper()
	msgs := make([]*primitive.Message, len(bodies))
	for i, body := range bodies {
		msgs[i] = primitive.NewMessage(topic, []byte(body))
	}
	return p.SendSync(t.Context(), msgs...)
}

// mustSend sends what must be stored.
func mustSend(t *testing.T, p rocketmq.Producer, body string) *primitive.SendResult {
	t.Helper()
	res, err := send(t, p, body)
	if err != nil || res.Status != primitive.SendOK {
		t.Fatalf("send %q: %+v, %v", body, res, err)
	}
	return res
}

// refused sends what must not be stored, and checks what the application is told.
func refused(t *testing.T, p rocketmq.Producer, want ...string) {
	t.Helper()
	res, err := send(t, p, "refused")
	if err == nil {
		t.Fatalf("it was sent: %+v", res)
	}
	for _, part := range want {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the application is told %q, want %q in it", err, part)
		}
	}
}

// received are the messages that a consumer was given.
type received chan *primitive.MessageExt

// newConsumer starts a push consumer; handle may be nil.
func newConsumer(t *testing.T, mq *wheelmqtest.Broker, handle func(*primitive.MessageExt) consumer.ConsumeResult) received {
	t.Helper()
	got := make(received, 100)
	goclient.Consumer(t, mq.NameServerAddr(), group, topic, func(msg *primitive.MessageExt) consumer.ConsumeResult {
		got <- msg
		if handle != nil {
			return handle(msg)
		}
		return consumer.ConsumeSuccess
	})
	return got
}

func (r received) next(t *testing.T) *primitive.MessageExt {
	t.Helper()
	select {
	case msg := <-r:
		return msg
	case <-time.After(limit):
		t.Fatal("no message came")
		return nil
	}
}

// bodies are what is stored in the topic, in order.
func bodies(mq *wheelmqtest.Broker) string {
	var list []string
	for _, msg := range mq.Messages(topic) {
		list = append(list, string(msg.Body))
	}
	return strings.Join(list, " ")
}

func wantBodies(t *testing.T, mq *wheelmqtest.Broker, want string) {
	t.Helper()
	if got := bodies(mq); got != want {
		t.Errorf("the topic has %q, want %q", got, want)
	}
}

// wantHealth checks a part of the server, and that a reason names what is wrong.
func wantHealth(t *testing.T, mq *wheelmqtest.Broker, part string, state health.State, reason ...string) {
	t.Helper()
	got := mq.Health().Parts[part]
	if got.State != state {
		t.Errorf("%s is %s (%s), want %s", part, got.State, got.Reason, state)
	}
	for _, want := range reason {
		if !strings.Contains(got.Reason, want) {
			t.Errorf("%s is %s: %q, want %q in it", part, got.State, got.Reason, want)
		}
	}
}

// wantExchange checks that the table of exchanges shows what happened.
func wantExchange(t *testing.T, mq *wheelmqtest.Broker, name, result string, f *wheelmqtest.Fault) {
	t.Helper()
	list := mq.Exchanges()
	for i := range list {
		if x := &list[i]; x.Name == name && x.Result == result && x.Fault == f.ID() {
			return
		}
	}
	t.Errorf("no exchange %s with %s by %s in %+v", name, result, f.ID(), list)
}

// eventually waits for what the server or a client does by itself.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for range int(limit / (5 * time.Millisecond)) {
		if holds() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("waited in vain: %s", what)
}
