package compat

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	rocketmq "github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/primitive"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
)

// TestPlannedRestart_UnderLoad stops the server with SIGTERM and starts it while
// two members of a group consume and four senders send, every third message
// delayed. A send that fails is sent again, as an application does. Everything
// arrives; the server promises more than the real broker: whoever has no answer
// has stored nothing, so a message that is sent again is stored once, and the
// members keep their queues, so nothing comes twice.
func TestPlannedRestart_UnderLoad(t *testing.T) {
	t.Parallel()
	for _, flush := range []string{"ASYNC_FLUSH", "SYNC_FLUSH"} {
		t.Run(flush, func(t *testing.T) {
			t.Parallel()
			server := peer.StartTarget(t, map[string]string{"flushDiskType": flush})
			l := newLabOn(t, server, 4)
			members := []*inbox{l.consume(t), l.consume(t)}
			probes := l.divided(t, members)
			sending, stop := context.WithCancel(t.Context())
			var senders sync.WaitGroup
			loads := make([]*restartLoad, 4)
			for i := range loads {
				loads[i] = &restartLoad{l: l, p: l.producer(t), name: fmt.Sprintf("sender %d", i), delayed: i%2 == 0}
				senders.Go(func() { loads[i].run(sending, t) })
			}
			goOn(t, members)
			begin := time.Now()
			server.Restart()
			down := time.Since(begin)
			goOn(t, members)
			stop()
			senders.Wait()
			l.rewire(t).wantAll(t, probes, loads, members)
			t.Logf("down and up in %v: %s", down.Round(time.Millisecond), restartReport(loads))
		})
	}
}

// divided waits until two members have divided the queues, and returns how many probes that took:
// what a member has of a queue that it is about to lose may come twice.
func (l *lab) divided(t *testing.T, members []*inbox) (probes int) {
	t.Helper()
	p := l.producer(t)
	suite.Eventually(t, limit, "each member has half of the queues, twice in a row", func() bool {
		for range 2 {
			from := []int{len(members[0].all()), len(members[1].all())}
			const round = 16
			for range round {
				send(t, p, l.message("probe %d", probes))
				probes++
			}
			suite.Eventually(t, limit, "the probes arrive", func() bool {
				return len(members[0].all())+len(members[1].all()) >= from[0]+from[1]+round
			})
			if !disjoint(members, from) {
				return false
			}
		}
		return true
	})
	return probes
}

// disjoint tells whether two members have got something each, and nothing of the same queue, since
// they had so much.
func disjoint(members []*inbox, from []int) bool {
	queues := [2]map[int]bool{{}, {}}
	for i, member := range members {
		for _, a := range member.all()[from[i]:] {
			queues[i][a.Queue.QueueId] = true
		}
	}
	for id := range queues[0] {
		if queues[1][id] {
			return false
		}
	}
	return len(queues[0]) > 0 && len(queues[0]) == len(queues[1])
}

// goOn waits until both members have got more than they have.
func goOn(t *testing.T, members []*inbox) {
	t.Helper()
	const more = 50
	at := []int{len(members[0].all()), len(members[1].all())}
	suite.Eventually(t, limit, "both members go on", func() bool {
		return len(members[0].all()) > at[0]+more && len(members[1].all()) > at[1]+more
	})
}

// restartLoad is a producer that sends until it is told to end.
type restartLoad struct {
	l       *lab
	p       rocketmq.Producer
	name    string
	delayed bool

	bodies  []string
	retried map[string]int // sends that failed, by body
	longest time.Duration  // from the first try to the answer
}

func (r *restartLoad) run(ctx context.Context, t *testing.T) {
	r.retried = make(map[string]int)
	for n := 0; ctx.Err() == nil; n++ {
		m := r.l.message("%s: %d", r.name, n)
		if r.delayed && n%3 == 0 {
			m.WithDelayTimeLevel(1 + n%2)
		}
		body, begin := string(m.Body), time.Now()
		if err := r.send(t, m); err != nil {
			t.Errorf("%s was not sent: %v", body, err)
			return
		}
		r.bodies, r.longest = append(r.bodies, body), max(r.longest, time.Since(begin))
		time.Sleep(2 * time.Millisecond)
	}
}

func (r *restartLoad) send(t *testing.T, m *primitive.Message) error {
	for try := time.Now(); time.Since(try) < limit; time.Sleep(20 * time.Millisecond) {
		result, err := r.p.SendSync(t.Context(), m)
		if err == nil && result.Status == primitive.SendOK {
			return nil
		}
		r.retried[string(m.Body)]++
	}
	return errors.New("every try failed")
}

// wantAll wants what was sent stored and consumed, after so many probes.
func (l *lab) wantAll(t *testing.T, probes int, loads []*restartLoad, members []*inbox) {
	t.Helper()
	failed := make(map[string]int)
	for _, r := range loads {
		for _, body := range r.bodies {
			failed[body] = r.retried[body]
		}
	}
	got := func() map[string]int {
		all := members[0].counts()
		for body, n := range members[1].counts() {
			all[body] += n
		}
		maps.DeleteFunc(all, func(body string, _ int) bool { return strings.HasPrefix(body, "probe") })
		return all
	}
	suite.Eventually(t, limit, fmt.Sprintf("all of %d messages arrive", len(failed)), func() bool { return len(got()) >= len(failed) })
	once := l.server.Kind == peer.Ours
	if n := l.stored(t); once && n != int64(probes+len(failed)) {
		t.Errorf("%d messages are in the topic, want %d", n, probes+len(failed))
	}
	for body, n := range got() {
		if retries, sent := failed[body]; !sent {
			t.Errorf("%q arrived and was never acknowledged", body)
		} else if once && n != 1 {
			t.Errorf("%q arrived %d times, want once; %d of its sends failed", body, n, retries)
		}
	}
}

func restartReport(loads []*restartLoad) string {
	sent, failed, longest := 0, 0, time.Duration(0)
	for _, r := range loads {
		sent, longest = sent+len(r.bodies), max(longest, r.longest)
		for n := range maps.Values(r.retried) {
			failed += n
		}
	}
	return fmt.Sprintf("%d messages, %d sends failed and were sent again, the longest took %v", sent, failed, longest.Round(time.Millisecond))
}
