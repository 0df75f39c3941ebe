package virtual

import (
	"testing"
	"time"

	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
)

// retryAfter are the delays of the sixteen retries: levels 3 to 18.
var retryAfter = []time.Duration{
	10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 3 * time.Minute, 4 * time.Minute, 5 * time.Minute, 6 * time.Minute,
	7 * time.Minute, 8 * time.Minute, 9 * time.Minute, 10 * time.Minute, 20 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour,
}

func fails(*primitive.MessageExt) consumer.ConsumeResult { return consumer.ConsumeRetryLater }

// want checks that the handler saw the message at its sixteen instants and no others.
func wantSixteenRetries(t *testing.T, seen []attempt) {
	t.Helper()
	if len(seen) != 17 {
		t.Fatalf("the handler saw %d attempts, want 17: %v", len(seen), seen)
	}
	at := time.Duration(0)
	for i, a := range seen {
		if i > 0 {
			at += retryAfter[i-1]
		}
		if a.times != int32(i) || a.at != at {
			t.Errorf("attempt %d has reconsumeTimes %d and comes after %v, want %v", i, a.times, a.at, at)
		}
	}
}

// TestSixteenRetries fails a message until it is a dead letter: 4 h 46 min 40 s of delays.
func TestSixteenRetries(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	seen := l.push(fails)
	begun := time.Now()
	send(t, l.producer(), "doomed", 0)
	took := l.until(func() bool { return len(l.DLQ(group)) == 1 })
	t.Logf("%v of virtual time in %v", took, time.Since(begun))
	wantSixteenRetries(t, seen.all())
	if got := l.DLQ(group)[0]; string(got.Body) != "doomed" || got.ReconsumeTimes != 17 && got.ReconsumeTimes != 16 {
		t.Errorf("the dead letter is %q after %d attempts", got.Body, got.ReconsumeTimes)
	}
	if n := l.consumed(); n != 0 {
		t.Errorf("%d messages were consumed with success, want 0", n)
	}
}

// TestAutoSkip does the same with nobody turning the clock.
func TestAutoSkip(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	seen := l.push(fails)
	l.time().SetAutoSkip(true)
	send(t, l.producer(), "doomed", 0)
	for deadline := time.Now().Add(limit); len(l.DLQ(group)) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no dead letter; the handler saw %v", seen.all())
		}
	}
	wantSixteenRetries(t, seen.all())
}

// TestTwoHours has a message of the highest level arrive at once by AutoSkip.
func TestTwoHours(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	seen := l.push(func(*primitive.MessageExt) consumer.ConsumeResult { return consumer.ConsumeSuccess })
	l.time().SetAutoSkip(true)
	p := l.producer()
	send(t, p, "first", 0) // the clients have met
	l.wait(seen, 1)
	begun := time.Now()
	send(t, p, "in two hours", 18)
	l.wait(seen, 2)
	t.Logf("two hours in %v", time.Since(begun))
	if a := seen.all()[1]; a.at != 2*time.Hour {
		t.Errorf("it came after %v", a.at)
	}
}

func (l *lab) wait(seen *log, n int) {
	l.t.Helper()
	for deadline := time.Now().Add(limit); seen.len() < n; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			l.t.Fatalf("the handler saw %v, want %d", seen.all(), n)
		}
	}
}

// TestSlowHandler: time does not overtake a handler that takes 300 ms of real time, neither at its
// first attempt nor at its retries.
func TestSlowHandler(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	seen := l.push(func(m *primitive.MessageExt) consumer.ConsumeResult {
		before := l.now()
		time.Sleep(300 * time.Millisecond)
		if after := l.now(); !after.Equal(before) {
			t.Errorf("attempt %d at %q was overtaken: %v passed", m.ReconsumeTimes, m.Body, after.Sub(before))
		}
		if string(m.Body) == "slow" && m.ReconsumeTimes < 2 {
			return consumer.ConsumeRetryLater
		}
		return consumer.ConsumeSuccess
	})
	p := l.producer()
	send(t, p, "slow", 0)
	send(t, p, "in 5 s", 2)
	send(t, p, "in 1 m", 5)
	l.until(func() bool { return l.consumed() == 3 })
	want := map[string][]time.Duration{
		"slow": {0, 10 * time.Second, 40 * time.Second}, "in 5 s": {5 * time.Second}, "in 1 m": {time.Minute},
	}
	got := map[string][]time.Duration{}
	for _, a := range seen.all() {
		got[a.body] = append(got[a.body], a.at)
	}
	for body, at := range want {
		if len(got[body]) != len(at) {
			t.Fatalf("%q came at %v, want %v", body, got[body], at)
		}
		for i := range at {
			if got[body][i] != at[i] {
				t.Errorf("%q came at %v, want %v", body, got[body], at)
			}
		}
	}
}
