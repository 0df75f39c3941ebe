package compat

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/apache/rocketmq-client-go/v2/primitive"

	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// noticed is how soon a broker has to notice that a member has gone. Its heartbeats are
// missed after 2 min (channelExpiredTimeout) only.
const noticed = time.Minute

// takeover bounds the wait for the survivor to consume from the queues of the
// other. A notified client does so at once; on a busy machine one of its requests
// can time out, and then it tries again with its periodic rebalance after 20 s.
const takeover = limit

// TestMemberCloses_TheOtherTakesOver has two members of this process.
func TestMemberCloses_TheOtherTakesOver(t *testing.T) {
	t.Parallel()
	l := newLab(t, 8)
	survivor, leaver := l.consume(t), l.consume(t)
	l.balance(t, survivor.counts, leaver.counts)
	// takeOver measures from the end of the call, so the wait in it does not count.
	l.takeOver(t, survivor, func() { leaver.close(t) }, leaver.counts)
}

// TestMemberIsKilled_TheOtherTakesOver kills a member in a process of its own:
// its sockets are closed by the kernel, nothing is said to the broker.
func TestMemberIsKilled_TheOtherTakesOver(t *testing.T) {
	t.Parallel()
	l := newLab(t, 8)
	survivor := l.consume(t)
	victim := l.startChild(t)
	l.balance(t, survivor.counts, victim.counts)
	l.takeOver(t, survivor, victim.kill, victim.counts)
}

// TestMemberIsReset_TheOtherTakesOver kills a member that has unread bytes in
// its sockets, so that its connections end with RST.
func TestMemberIsReset_TheOtherTakesOver(t *testing.T) {
	t.Parallel()
	l := newLab(t, 8)
	survivor := l.consume(t)
	victim := l.startChild(t)
	l.balance(t, survivor.counts, victim.counts)
	victim.freeze(t)
	// Answers to its waiting pulls, which it does not read any more.
	unread := l.fill(t, "unread")
	suite.Eventually(t, limit, "the survivor consumes its part", func() bool {
		return consumedOf(unread, survivor.counts()) >= len(unread)/2
	})
	l.takeOver(t, survivor, victim.kill, victim.counts)
	suite.Eventually(t, takeover, "the survivor consumes what the victim left unread", func() bool {
		return consumedOf(unread, survivor.counts(), victim.counts()) == len(unread)
	})
}

// fill sends one message to each queue and returns the bodies.
func (l *lab) fill(t *testing.T, prefix string) []string {
	t.Helper()
	bodies := numbered(prefix, l.queues)
	for queue, body := range bodies {
		l.wire.MustSend(t, wire.Send{Topic: l.topic, QueueID: queue, Body: []byte(body)})
	}
	return bodies
}

// consumedOf counts how many of the bodies are in one of the maps.
func consumedOf(bodies []string, received ...map[string]int) (n int) {
	for _, body := range bodies {
		for _, counts := range received {
			if counts[body] > 0 {
				n++
				break
			}
		}
	}
	return n
}

// balance waits until each of two members gets half of the queues.
func (l *lab) balance(t *testing.T, first, second func() map[string]int) {
	t.Helper()
	for deadline := time.Now().Add(limit); ; {
		round := l.fill(t, fmt.Sprintf("balance at %d ns:", time.Now().UnixNano()))
		suite.Eventually(t, limit, "a round arrives", func() bool {
			return consumedOf(round, first(), second()) == len(round)
		})
		a, b := consumedOf(round, first()), consumedOf(round, second())
		if a == len(round)/2 && b == len(round)/2 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the members get %d and %d of %d queues", a, b, len(round))
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// takeOver ends a member and wants the broker to notice at once and the
// survivor to consume from all queues.
func (l *lab) takeOver(t *testing.T, survivor *inbox, end func(), left func() map[string]int) {
	t.Helper()
	members, _ := l.wire.ConsumerIDs(t, l.group)
	if len(members) != 2 {
		t.Fatalf("members %q, want two", members)
	}
	begin := time.Now()
	end()
	gone := time.Now()
	suite.Eventually(t, noticed, "the broker notices that the member has gone", func() bool {
		ids, _ := l.wire.ConsumerIDs(t, l.group)
		return len(ids) == 1
	})
	t.Logf("ended in %v, noticed after %v", gone.Sub(begin).Round(time.Millisecond), time.Since(gone).Round(time.Millisecond))
	before := left()
	after := l.fill(t, "after")
	suite.Eventually(t, takeover, "the survivor consumes from all queues", func() bool {
		return consumedOf(after, survivor.counts()) == len(after)
	})
	t.Logf("taken over after %v", time.Since(gone).Round(time.Millisecond))
	if now := left(); !maps.Equal(before, now) {
		t.Errorf("the member that ended consumed %d more bodies", len(now)-len(before))
	}
	for _, a := range survivor.all() {
		if strings.HasPrefix(string(a.Body), "after") && a.Topic != l.topic {
			t.Errorf("%q came from %s", a.Body, a.Topic)
		}
	}
}

// TestJoiningMember_SharesTheQueues: nothing is lost while queues move, and no
// queue is consumed by both at the end.
func TestJoiningMember_SharesTheQueues(t *testing.T) {
	t.Parallel()
	l := newLab(t, 4)
	p := l.producer(t)
	first := l.consume(t)
	var sent []string
	sendSome := func(round int) {
		for i := range 10 {
			body := fmt.Sprintf("round %d message %d", round, i)
			send(t, p, primitive.NewMessage(l.topic, []byte(body)))
			sent = append(sent, body)
		}
	}
	sendSome(0)
	second := l.consume(t)
	for round := range 5 {
		sendSome(round + 1)
	}
	l.balance(t, first.counts, second.counts)
	suite.Eventually(t, limit, "everything is consumed by one of the two", func() bool {
		return consumedOf(sent, first.counts(), second.counts()) == len(sent)
	})
	last := l.fill(t, "last")
	suite.Eventually(t, limit, "the last round arrives", func() bool {
		return consumedOf(last, first.counts(), second.counts()) == len(last)
	})
	for _, body := range last {
		if n := first.counts()[body] + second.counts()[body]; n != 1 {
			t.Errorf("%q was consumed %d times after the queues had settled", body, n)
		}
	}
}
