package virtual

import (
	"context"
	"sync"
	"testing"
	"time"

	rocketmq "github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"
	"github.com/apache/rocketmq-client-go/v2/rlog"

	"github.com/wheelmq/wheelmq/broker/inflight"
	"github.com/wheelmq/wheelmq/broker/virtualtime"
	"github.com/wheelmq/wheelmq/wheelmqtest"
)

func TestMain(m *testing.M) {
	rlog.SetLogLevel("fatal")
	m.Run()
}

const (
	topic = "orders"
	group = "billing"

	// limit bounds real time, for failures only.
	limit = 3 * time.Minute
)

// lab is a server on a virtual clock.
type lab struct {
	*wheelmqtest.Broker
	t     *testing.T
	start time.Time
}

func newLab(t *testing.T, opts ...wheelmqtest.Option) *lab {
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	opts = append(opts, wheelmqtest.VirtualClock(start), wheelmqtest.Topic(topic, 4))
	return &lab{Broker: wheelmqtest.Start(t, opts...), t: t, start: start}
}

func (l *lab) time() *virtualtime.Engine   { return l.Control().Broker().VirtualTime() }
func (l *lab) inFlight() *inflight.Tracker { return l.Control().Broker().InFlight() }

// until goes on until the condition holds, at most five hours, and returns how far time is.
func (l *lab) until(cond func() bool) time.Duration {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	m, err := l.time().AdvanceUntil(ctx, func() (bool, error) { return cond(), nil }, 5*time.Hour)
	if err != nil {
		l.t.Fatal(err)
	}
	return time.UnixMilli(m.Now).Sub(l.start)
}

// consumed is how many messages the group has consumed with success, as far as is known.
func (l *lab) consumed() int64 {
	l.t.Helper()
	n, err := l.inFlight().Consumed(l.t.Context(), group)
	if err != nil {
		l.t.Fatal(err)
	}
	return n
}

func (l *lab) producer() rocketmq.Producer {
	l.t.Helper()
	p, err := rocketmq.NewProducer(producer.WithNameServer([]string{l.NameServerAddr()}), producer.WithInstanceName(l.t.Name()+" producer"),
		producer.WithSendMsgTimeout(limit))
	if err != nil {
		l.t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = p.Shutdown() })
	return p
}

func send(t *testing.T, p rocketmq.Producer, body string, level int) {
	t.Helper()
	m := primitive.NewMessage(topic, []byte(body))
	m.WithDelayTimeLevel(level)
	if _, err := p.SendSync(t.Context(), m); err != nil {
		t.Fatal(err)
	}
}

// attempt is one call of a handler.
type attempt struct {
	body  string
	times int32
	at    time.Duration // of virtual time, since the start
}

// log is what handlers saw, in order.
type log struct {
	mu   sync.Mutex
	list []attempt
}

func (g *log) all() []attempt {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]attempt(nil), g.list...)
}

func (g *log) len() int { return len(g.all()) }

// push starts a consumer that notes what it sees and then does as decide says.
func (l *lab) push(decide func(m *primitive.MessageExt) consumer.ConsumeResult, opts ...consumer.Option) *log {
	l.t.Helper()
	seen := &log{}
	opts = append([]consumer.Option{
		consumer.WithNameServer([]string{l.NameServerAddr()}), consumer.WithGroupName(group), consumer.WithInstance(l.t.Name() + " consumer"),
		consumer.WithConsumeFromWhere(consumer.ConsumeFromFirstOffset),
	}, opts...)
	c, err := rocketmq.NewPushConsumer(opts...)
	if err != nil {
		l.t.Fatal(err)
	}
	if err := c.Subscribe(topic, consumer.MessageSelector{}, func(_ context.Context, ms ...*primitive.MessageExt) (consumer.ConsumeResult, error) {
		for _, m := range ms {
			seen.mu.Lock()
			seen.list = append(seen.list, attempt{string(m.Body), m.ReconsumeTimes, l.now().Sub(l.start)})
			seen.mu.Unlock()
			if r := decide(m); r != consumer.ConsumeSuccess {
				return r, nil
			}
		}
		return consumer.ConsumeSuccess, nil
	}); err != nil {
		l.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = c.Shutdown() })
	return seen
}

func (l *lab) now() time.Time { return time.UnixMilli(l.time().Now()) }
