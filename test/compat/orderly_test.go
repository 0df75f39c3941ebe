package compat

import (
	"fmt"
	"testing"
	"time"

	"github.com/apache/rocketmq-client-go/v2/consumer"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// lockLife bounds how long a queue lock outlives the last renewal of a client that died (60 s in RocketMQ
// 5.5.0), and what a survivor needs on top: it asks every 20 s.
const lockLife = 80*time.Second + limit

// inOrder checks that an inbox saw the messages "n" of each queue in order, and that none was left
// out between the two.
func inOrder(t *testing.T, name string, arrivals []arrival) {
	t.Helper()
	last := make(map[int]int64)
	for _, a := range arrivals {
		queue := a.Queue.QueueId
		if before, seen := last[queue]; seen && a.QueueOffset > before+1 {
			t.Errorf("%s: queue %d: message %d came after %d", name, queue, a.QueueOffset, before)
		}
		last[queue] = a.QueueOffset
	}
}

// fillInOrder sends a round to every queue and returns the bodies.
func (l *lab) fillInOrder(t *testing.T, round int) (bodies []string) {
	t.Helper()
	for queue := range l.queues {
		for i := range 5 {
			body := fmt.Sprintf("round %d queue %d message %d", round, queue, i)
			l.wire.MustSend(t, wire.Send{Topic: l.topic, QueueID: queue, Body: []byte(body)})
			bodies = append(bodies, body)
		}
	}
	return bodies
}

// TestOrderlyMemberIsKilled_TheOtherTakesOver kills a process that consumes in order. Its queues are
// locked until a minute after its last renewal; then the survivor goes on, and nothing is left out.
func TestOrderlyMemberIsKilled_TheOtherTakesOver(t *testing.T) {
	t.Parallel()
	l := newLab(t, 4)
	survivor := l.consume(t, consumer.WithConsumerOrder(true))
	victim := l.startChildOf(t, true)
	var all []string
	sent := func(round int) []string {
		bodies := l.fillInOrder(t, round)
		all = append(all, bodies...)
		return bodies
	}
	round := 0
	suite.Eventually(t, lockLife, "both have queues", func() bool {
		round++
		bodies := sent(round)
		time.Sleep(500 * time.Millisecond)
		return consumedOf(bodies, victim.counts()) > 0 && consumedOf(bodies, survivor.counts()) > 0
	})
	victim.kill()
	killed := time.Now()
	last := sent(round + 1)
	suite.Eventually(t, lockLife, "the survivor consumes from all queues", func() bool {
		return consumedOf(last, survivor.counts()) == len(last)
	})
	t.Logf("taken over after %v", time.Since(killed).Round(time.Millisecond))
	if n := consumedOf(all, survivor.counts(), victim.counts()); n != len(all) {
		t.Errorf("%d of %d messages were consumed", n, len(all))
	}
	inOrder(t, "survivor", survivor.all())
}

// TestSilentMember_LosesItsQueues freezes a process, whose connections stay open. The broker closes
// them when its heartbeats have been missing for channelExpiredTimeout, and tells the others.
func TestSilentMember_LosesItsQueues(t *testing.T) {
	t.Parallel()
	// The Go client beats every 30 s.
	server := peer.StartTarget(t, map[string]string{"channelExpiredTimeout": "40000"})
	l := newLabOn(t, server, 4)
	survivor := l.consume(t)
	victim := l.startChild(t)
	l.balance(t, survivor.counts, victim.counts)
	victim.freeze(t)
	frozen := time.Now()
	// The real broker looks every 10 s.
	suite.Eventually(t, limit, "the broker notices", func() bool {
		ids, _ := l.wire.ConsumerIDs(t, l.group)
		return len(ids) == 1
	})
	t.Logf("noticed after %v", time.Since(frozen).Round(time.Millisecond))
	after := l.fill(t, "after")
	suite.Eventually(t, takeover, "the survivor consumes from all queues", func() bool {
		return consumedOf(after, survivor.counts()) == len(after)
	})
}
