package compat

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	rocketmq "github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"

	"github.com/wheelmq/wheelmq/test/goclient"
	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// limit ends a test whose messages never come. The client itself needs up to
// 40 s in places (routes every 30 s, rebalance every 20 s), and a machine may be slow or stall.
const limit = 3 * time.Minute

// instances numbers the clients: the library shares connections between
// clients of one name, and a test that stops one must not stop another.
var instances atomic.Int64

func instanceName() string { return fmt.Sprintf("compat-%d", instances.Add(1)) }

// lab is a server with a topic and a group of a test's own.
type lab struct {
	server       *peer.Target
	wire         *wire.Conn
	topic, group string
	queues       int
}

// newLab makes the topic with the given number of queues on the common server.
func newLab(t *testing.T, queues int) *lab { return newLabOn(t, suite.Server(), queues) }

func newLabOn(t *testing.T, server *peer.Target, queues int) *lab {
	t.Helper()
	l := &lab{
		server: server, wire: wire.Dial(t, server.BrokerAddr),
		topic: suite.Name(t, "topic"), group: suite.Name(t, "group"), queues: queues,
	}
	l.wire.MustCreateTopic(t, l.topic, queues)
	ns := wire.Dial(t, server.NameServerAddr)
	suite.Eventually(t, wire.Timeout, "the topic has a route", func() bool {
		_, answer := ns.Route(t, l.topic)
		return answer.Code == wire.Success
	})
	wire.Introduce(t, server.BrokerAddr, l.group, l.topic)
	return l
}

// rewire connects again after the server was restarted.
func (l *lab) rewire(t *testing.T) *lab {
	t.Helper()
	l.wire = wire.Dial(t, l.server.BrokerAddr)
	return l
}

func (l *lab) nameServer() primitive.NamesrvAddr {
	return primitive.NamesrvAddr{l.server.NameServerAddr}
}

// producer starts a producer.
func (l *lab) producer(t *testing.T, options ...producer.Option) rocketmq.Producer {
	t.Helper()
	p, err := rocketmq.NewProducer(append([]producer.Option{
		producer.WithNameServer(l.nameServer()),
		producer.WithGroupName(suite.Name(t, "producer")),
		producer.WithInstanceName(instanceName()),
		producer.WithSendMsgTimeout(wire.Timeout),
	}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Shutdown() })
	return p
}

// consume starts a push consumer of the lab's group that reads the topic from
// its beginning into the returned inbox.
func (l *lab) consume(t *testing.T, options ...consumer.Option) *inbox {
	t.Helper()
	return l.push(t, newInbox(), consumer.MessageSelector{}, options...)
}

// push is consume with an inbox and a selector of the caller's.
func (l *lab) push(t *testing.T, box *inbox, selector consumer.MessageSelector, options ...consumer.Option) *inbox {
	t.Helper()
	c := goclient.Push(t, l.topic, selector, box.receive, append([]consumer.Option{
		consumer.WithNameServer(l.nameServer()),
		consumer.WithGroupName(l.group),
		consumer.WithInstance(instanceName()),
		consumer.WithConsumeFromWhere(consumer.ConsumeFromFirstOffset),
	}, options...)...)
	box.started, box.shutdown = time.Now(), sync.OnceValue(c.Shutdown)
	t.Cleanup(func() { _ = box.shutdown() })
	return box
}

// close ends the push consumer of an inbox. The client marks a message as
// consumed only after the application has returned, and one that is closed
// within its first second can come back into the group with the heartbeat that
// it sends then; it has no call to wait for either, so its age has to do.
func (b *inbox) close(t *testing.T) {
	t.Helper()
	const settled = 2 * time.Second
	time.Sleep(time.Until(b.started.Add(settled)))
	if err := b.shutdown(); err != nil {
		t.Error(err)
	}
}

// message is a message of the lab's topic.
func (l *lab) message(format string, args ...any) *primitive.Message {
	return primitive.NewMessage(l.topic, fmt.Appendf(nil, format, args...))
}

// settle waits until the topic holds n messages.
func (l *lab) settle(t *testing.T, n int) {
	t.Helper()
	suite.Eventually(t, wire.Timeout, fmt.Sprintf("%d messages are in the topic", n), func() bool { return l.stored(t) == int64(n) })
}

// committed waits until the offsets of the group add up to n. The client sends
// them 10 s after its start and then every 5 s; what it sends when it is closed
// can be lost with the connection.
func (l *lab) committed(t *testing.T, n int) {
	t.Helper()
	suite.Eventually(t, limit, fmt.Sprintf("the group's offsets add up to %d", n), func() bool {
		var sum int64
		for queue := range l.queues {
			if answer := l.wire.QueryOffset(t, l.group, l.topic, queue, nil); answer.Code == wire.Success {
				sum += answer.Int64(t, "offset")
			}
		}
		return sum == int64(n)
	})
}

// stored is the number of messages in the topic's queues.
func (l *lab) stored(t *testing.T) (sum int64) {
	t.Helper()
	for queue := range l.queues {
		sum += l.wire.MaxOffset(t, l.topic, queue)
	}
	return sum
}

// send stores one message and ends the test when that fails.
func send(t *testing.T, p rocketmq.Producer, m ...*primitive.Message) *primitive.SendResult {
	t.Helper()
	result, err := p.SendSync(t.Context(), m...)
	if err != nil {
		t.Fatal(err)
	}
	if result.Status != primitive.SendOK {
		t.Fatalf("send: %v", result)
	}
	return result
}

// arrival is one message as the application saw it.
type arrival struct {
	*primitive.MessageExt
	at time.Time
}

// inbox collects what a push consumer received.
type inbox struct {
	// decide answers for a message; nil means success.
	decide   func(context.Context, *primitive.MessageExt) consumer.ConsumeResult
	shutdown func() error
	started  time.Time

	mu       sync.Mutex
	arrivals []arrival
}

func newInbox() *inbox { return new(inbox) }

func (b *inbox) receive(ctx context.Context, messages ...*primitive.MessageExt) (consumer.ConsumeResult, error) {
	now := time.Now()
	b.mu.Lock()
	for _, m := range messages {
		b.arrivals = append(b.arrivals, arrival{m, now})
	}
	b.mu.Unlock()
	if b.decide == nil {
		return consumer.ConsumeSuccess, nil
	}
	return b.decide(ctx, messages[0]), nil
}

// all are the arrivals so far.
func (b *inbox) all() []arrival {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.arrivals)
}

// counts are the arrivals so far per body.
func (b *inbox) counts() map[string]int {
	counts := make(map[string]int)
	for _, a := range b.all() {
		counts[string(a.Body)]++
	}
	return counts
}

// wait waits until n different bodies have arrived.
func (b *inbox) wait(t *testing.T, n int) {
	t.Helper()
	if n == 0 {
		return
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("arrived: %v", b.counts())
		}
	})
	suite.Eventually(t, limit, fmt.Sprintf("%d messages arrive", n), func() bool { return len(b.counts()) >= n })
}

// wantOnce waits for the bodies and wants each of them once and nothing else.
func (b *inbox) wantOnce(t *testing.T, want ...string) {
	t.Helper()
	b.wait(t, len(want))
	got := b.counts()
	for _, body := range want {
		if got[body] != 1 {
			t.Errorf("%q arrived %d times, want once", body, got[body])
		}
		delete(got, body)
	}
	if len(got) != 0 {
		t.Errorf("arrived beyond what was sent: %q", slices.Sorted(maps.Keys(got)))
	}
}

// numbered are the bodies "prefix 0" to "prefix n-1".
func numbered(prefix string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("%s %d", prefix, i)
	}
	return list
}
