package cases

import (
	"context"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// TestMessageArrivingWhileAPullParks_WakesIt is case BR-54: a message that came
// between "nothing there" and "parked" waited for the next scan, 5 s or more.
func TestMessageArrivingWhileAPullParks_WakesIt(t *testing.T) {
	t.Parallel()
	consumer, producer := dialBroker(t), dialBroker(t)
	topic, group := suite.Name(t, "topic"), suite.Name(t, "group")
	producer.MustCreateTopic(t, topic, 1)
	const rounds = 40
	// Far below the time at which a lost wake-up would be found, far above a wake-up.
	suspend, limit := 2*time.Minute, time.Minute
	if peer.TargetKind() == peer.Real {
		limit = 4 * time.Second // its scan
	}
	delays := []time.Duration{0, 5 * time.Millisecond, 60 * time.Millisecond}
	type wakeUp struct {
		got wire.Pulled
		at  time.Time
		err error
	}
	var worst time.Duration
	for round := range rounds {
		woken := make(chan wakeUp, 1)
		go func() {
			ctx, cancel := context.WithTimeout(t.Context(), suspend+wire.Timeout)
			defer cancel()
			got, err := consumer.Pull(ctx, wire.Pull{Group: group, Topic: topic, Offset: int64(round), Suspend: suspend})
			woken <- wakeUp{got, time.Now(), err}
		}()
		time.Sleep(delays[round%len(delays)])
		producer.MustSend(t, wire.Send{Topic: topic, Body: []byte("wake up")})
		sent := time.Now()
		w := <-woken
		if w.err != nil || w.got.Code != wire.Success || w.got.NextBeginOffset != int64(round)+1 {
			t.Fatalf("round %d: %v, %v", round, w.got.Frame, w.err)
		}
		worst = max(worst, w.at.Sub(sent))
	}
	t.Logf("slowest wake-up: %v", worst)
	if worst > limit {
		t.Errorf("a pull woke up %v after the send, want at most %v", worst, limit)
	}
}

// TestSuspendedPull_IsAnsweredInTime is case BR-55: a pull on an idle queue was
// never answered: MustPull waits for wire.Timeout on top.
func TestSuspendedPull_IsAnsweredInTime(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic, group := suite.Name(t, "topic"), suite.Name(t, "group")
	fill(t, c, topic, 2)
	const suspend = 3 * time.Second
	begin := time.Now()
	got := c.MustPull(t, wire.Pull{Group: group, Topic: topic, Offset: 2, Suspend: suspend})
	took := time.Since(begin)
	wantCode(t, "pull", got.Frame, wire.PullNotFound)
	if got.NextBeginOffset != 2 {
		t.Errorf("next offset %d, want 2", got.NextBeginOffset)
	}
	// A millisecond clock may cut off a part of the first millisecond.
	if took < suspend-2*time.Millisecond {
		t.Errorf("answered after %v, want after %v", took, suspend)
	}
}
