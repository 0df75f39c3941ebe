package virtual

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"

	"github.com/wheelmq/wheelmq/wheelmqtest"
)

func succeeds(*primitive.MessageExt) consumer.ConsumeResult { return consumer.ConsumeSuccess }

// TestOrderly: a consumer in order holds what it is at work on in another place, and tries again
// by itself after real time. Virtual time waits for both.
func TestOrderly(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	var tries atomic.Int32
	seen := l.push(func(m *primitive.MessageExt) consumer.ConsumeResult {
		before := l.now()
		time.Sleep(50 * time.Millisecond)
		if !l.now().Equal(before) {
			t.Errorf("%q was overtaken", m.Body)
		}
		if string(m.Body) == "again" && tries.Add(1) == 1 {
			return consumer.SuspendCurrentQueueAMoment
		}
		return consumer.ConsumeSuccess
	}, consumer.WithConsumerOrder(true))
	p := l.producer()
	send(t, p, "again", 0)
	send(t, p, "in 1 m", 5)
	took := l.until(func() bool { return seen.len() == 3 })
	if took != time.Minute {
		t.Errorf("it took %v", took)
	}
	for i, at := range []time.Duration{0, 0, time.Minute} {
		if a := seen.all()[i]; a.at != at {
			t.Errorf("attempt %d at %q comes after %v, want %v", i, a.body, a.at, at)
		}
	}
}

// TestTwoConsumers: with messages for both, one of them joins and one leaves on the way.
func TestTwoConsumers(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	first := l.push(succeeds)
	p := l.producer()
	for level := range 16 {
		send(t, p, "x", level+1)
	}
	l.until(func() bool { return first.len() == 4 })
	second := l.push(succeeds, consumer.WithInstance(t.Name()+" second"))
	took := l.until(func() bool { return first.len()+second.len() == 16 })
	if took != 30*time.Minute {
		t.Errorf("sixteen levels took %v, want 30 min", took)
	}
	l.until(func() bool { return l.consumed() == 16 })
}

// TestBroadcast: every member is given what is due before time goes on. When its handler is done
// nobody but the client knows, and the Go client is not asked.
func TestBroadcast(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	model := consumer.WithConsumerModel(consumer.BroadCasting)
	// The client keeps its offsets in the home directory, by its name.
	name := fmt.Sprintf("%s %d ", t.Name(), time.Now().UnixNano())
	first := l.push(succeeds, model, consumer.WithInstance(name+"first"))
	second := l.push(succeeds, model, consumer.WithInstance(name+"second"))
	p := l.producer()
	for level := 1; level <= 5; level++ {
		send(t, p, "x", level)
	}
	l.until(func() bool { return first.len() == 5 && second.len() == 5 })
	t.Cleanup(func() { forgetOffsets(t, name) })
	l.until(func() bool { return l.consumed() == 10 })
}

// forgetOffsets removes what clients of a name have left.
func forgetOffsets(t *testing.T, name string) {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(home, ".rocketmq_client_go", "*", "*"+name+"*"))
	for _, dir := range left {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	if err != nil {
		t.Error(err)
	}
}

// TestRestart goes on after a restart in the middle of a chain of retries, on the clock where it
// stood: the consumer connects again.
func TestRestart(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	seen := l.push(fails)
	send(t, l.producer(), "doomed", 0)
	before := l.until(func() bool { return seen.len() == 5 && l.idle() })
	l.Restart()
	if now := l.now().Sub(l.start); now != before {
		t.Fatalf("the clock went from %v to %v", before, now)
	}
	l.until(func() bool { return len(l.DLQ(group)) == 1 })
	wantSixteenRetries(t, seen.all())
}

// TestKill is a power cut in the middle of a chain of retries, and a consumer that starts then. No
// retry is lost; what the power cut took of the consumers' progress comes twice.
func TestKill(t *testing.T) {
	t.Parallel()
	l := newLab(t, wheelmqtest.SyncFlush())
	seen := l.push(fails)
	send(t, l.producer(), "doomed", 0)
	before := l.until(func() bool { return seen.len() == 5 && l.idle() })
	l.Kill()
	if now := l.now().Sub(l.start); now != before {
		t.Fatalf("the clock went from %v to %v", before, now)
	}
	// The first one waits half a minute for the answer to its pull.
	l.push(fails, consumer.WithInstance(t.Name()+" second"))
	if took := l.until(func() bool { return len(l.DLQ(group)) > 0 }); took != 4*time.Hour+45*time.Minute+40*time.Second {
		t.Errorf("it took %v", took)
	}
}

func (l *lab) idle() bool {
	work, err := l.inFlight().Busy(l.t.Context())
	return err == nil && len(work) == 0
}
