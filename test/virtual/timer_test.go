package virtual

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
)

// TestTimers: any-time delays of a client whose own clock stands still, in effect, while hours of
// virtual time go by. An instant is as far ahead as it is for the client.
func TestTimers(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	p := l.producer()
	retried := false
	seen := l.push(func(m *primitive.MessageExt) consumer.ConsumeResult {
		if string(m.Body) == "retried" && !retried {
			retried = true
			return consumer.ConsumeRetryLater
		}
		if string(m.Body) == "forwarded" && m.GetProperty("forwarded") == "" {
			again := primitive.NewMessage(topic, m.Body)
			again.WithProperties(m.GetProperties())
			again.WithProperty("forwarded", "yes")
			if _, err := p.SendSync(t.Context(), again); err != nil {
				t.Error(err)
			}
		}
		return consumer.ConsumeSuccess
	})
	put := func(body string, m func(*primitive.Message)) *primitive.SendResult {
		t.Helper()
		msg := primitive.NewMessage(topic, []byte(body))
		m(msg)
		result, err := p.SendSync(t.Context(), msg)
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	at := func(ahead time.Duration) func(*primitive.Message) {
		return func(m *primitive.Message) { m.WithDelayTimestamp(time.Now().Add(ahead)) }
	}
	put("delay", func(m *primitive.Message) { m.WithProperty("TIMER_DELAY_SEC", strconv.Itoa(7200)) })
	put("instant", at(3*time.Hour))
	put("retried", at(30*time.Minute))
	put("forwarded", at(40*time.Minute))
	id := put("cancelled", at(4*time.Hour)).MsgID
	l.Advance(10 * time.Minute) // of which the client that cancels knows nothing
	put("cancel", func(m *primitive.Message) {
		at(4 * time.Hour)(m)
		m.WithProperty("TIMER_DEL_UNIQKEY", id)
	})
	l.until(func() bool { return seen.len() == 6 })
	l.Advance(5 * time.Hour)

	var bodies []string
	for _, a := range seen.all() {
		bodies = append(bodies, a.body)
		due := map[string]time.Duration{"delay": 2 * time.Hour, "instant": 3 * time.Hour, "forwarded": 40 * time.Minute, "retried": 30 * time.Minute}[a.body]
		// The client's clock goes on between its look at it and the send.
		if early := due - a.at; early > time.Minute || early < 0 && a.times == 0 {
			t.Errorf("%q came after %v, want %v", a.body, a.at, due)
		}
	}
	if want := []string{"retried", "retried", "forwarded", "forwarded", "delay", "instant"}; !slices.Equal(bodies, want) {
		t.Errorf("came %q, want %q", bodies, want)
	}
}
