package compat

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
)

// loadMessage is one message of the load test.
type loadMessage struct {
	level         int
	begin, ack    time.Time // around the send
	arrivals      []time.Time
	stored        time.Time // store timestamp of the delivered copy, in ms
	sleeperWasOff time.Duration
}

func (m *loadMessage) due() time.Time { return m.ack.Add(delayOf(m.level)) }

// TestDelayLevelsUnderLoad sends levels 1 to 3 at a steady rate. Nothing may be
// early, lost or doubled. How late messages are is printed beside a bare
// sleeper, which waits for the same instants in the same process: what the
// sleeper is late, the machine is.
func TestDelayLevelsUnderLoad(t *testing.T) {
	t.Parallel()
	rate, seconds := setting(t, "WHEELMQ_LOAD_RATE", 200), setting(t, "WHEELMQ_LOAD_SECONDS", 5)
	l := newLab(t, 4)
	messages := make([]*loadMessage, rate*seconds)
	for i := range messages {
		messages[i] = &loadMessage{level: 1 + i%3}
	}
	box := l.push(t, newInbox(), consumer.MessageSelector{}, consumer.WithPullBatchSize(32), consumer.WithPullInterval(0))

	var sleepers sync.WaitGroup
	sendAtRate(t, l, messages, rate, &sleepers)
	suite.Eventually(t, limit, "all messages arrive", func() bool { return len(box.all()) >= len(messages) })
	sleepers.Wait()

	for _, a := range box.all() {
		i, err := strconv.Atoi(string(a.Body))
		if err != nil || i < 0 || i >= len(messages) {
			t.Fatalf("%q arrived", a.Body)
		}
		messages[i].arrivals = append(messages[i].arrivals, a.at)
		messages[i].stored = time.UnixMilli(a.StoreTimestamp)
	}
	for i, m := range messages {
		if len(m.arrivals) != 1 {
			t.Errorf("message %d arrived %d times", i, len(m.arrivals))
			continue
		}
		if waited := m.arrivals[0].Sub(m.begin); waited < delayOf(m.level) {
			t.Errorf("message %d of level %d arrived after %v: early", i, m.level, waited)
		}
	}
	if n := l.stored(t); n != int64(len(messages)) {
		t.Errorf("%d messages are in the topic, %d were sent", n, len(messages))
	}
	report(t, rate, seconds, messages)
}

// sendAtRate sends message i at i/rate seconds, from several workers so that
// one slow answer does not delay the rest.
func sendAtRate(t *testing.T, l *lab, messages []*loadMessage, rate int, sleepers *sync.WaitGroup) {
	t.Helper()
	const workers = 16
	p := l.producer(t)
	start := time.Now()
	var senders sync.WaitGroup
	for w := range workers {
		senders.Go(func() {
			for i := w; i < len(messages); i += workers {
				m := messages[i]
				time.Sleep(time.Until(start.Add(time.Duration(i) * time.Second / time.Duration(rate))))
				m.begin = time.Now()
				result, err := p.SendSync(t.Context(), primitive.NewMessage(l.topic, strconv.AppendInt(nil, int64(i), 10)).WithDelayTimeLevel(m.level))
				m.ack = time.Now()
				if err != nil || result.Status != primitive.SendOK {
					t.Errorf("message %d: %v, %v", i, result, err)
					continue
				}
				sleepers.Go(func() {
					time.Sleep(time.Until(m.due()))
					m.sleeperWasOff = time.Since(m.due())
				})
			}
		})
	}
	senders.Wait()
}

// report prints the lateness against ack + delay.
func report(t *testing.T, rate, seconds int, messages []*loadMessage) {
	t.Helper()
	var arrival, store, sleeper []time.Duration
	for _, m := range messages {
		if len(m.arrivals) == 0 {
			continue
		}
		arrival = append(arrival, m.arrivals[0].Sub(m.due()))
		// Timestamps have whole milliseconds, so this one is up to 1 ms too small.
		store = append(store, m.stored.Sub(m.due().Round(0)))
		sleeper = append(sleeper, m.sleeperWasOff)
	}
	fmt.Printf("delay levels 1-3 at %d msg/s for %d s against %s: lateness p50/p99: arrival %s, store %s, bare sleeper %s\n",
		rate, seconds, peer.TargetKind(), quantiles(arrival), quantiles(store), quantiles(sleeper))
}

func quantiles(d []time.Duration) string {
	if len(d) == 0 {
		return "-"
	}
	slices.Sort(d)
	at := func(q float64) float64 {
		return float64(d[int(q*float64(len(d)-1))].Microseconds()) / 1000
	}
	return fmt.Sprintf("%.1f/%.1f ms", at(0.5), at(0.99))
}

func setting(t *testing.T, name string, standard int) int {
	t.Helper()
	text, ok := os.LookupEnv(name)
	if !ok {
		return standard
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%q: want a positive number", name, text)
	}
	return n
}
