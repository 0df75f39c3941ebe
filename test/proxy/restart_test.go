package proxy

import (
	"strconv"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/proxy/clients"
)

// offsetsSaved is how often the real broker saves offsets here.
const offsetsSaved = 500 * time.Millisecond

// TestKilled kills the server while messages are away: what was acknowledged stays gone, the rest
// comes back, and clients and proxy go on as if nothing had been.
func TestKilled(t *testing.T) {
	t.Parallel()
	peer.RequireJava(t)
	const n, kept = 10, "m-4"
	l := start(t, map[string]string{"flushConsumerOffsetInterval": strconv.FormatInt(offsetsSaved.Milliseconds(), 10)})
	s := newStage(t, l, l.program(t, clients.Go), clients.Go)
	var p, c string
	var asked time.Time
	var invisible time.Duration
	s.withLead(10*time.Second, func(lead time.Duration) bool {
		s.setUp("NORMAL")
		p, c, invisible = s.producer(), s.simple(), lead
		s.send(p, numbered("m", n)...)
		asked = time.Now()
		for body, m := range s.receiveAll(c, n, invisible) {
			if body <= kept {
				s.ack(c, m)
			}
		}
		return time.Since(asked) < invisible
	})
	if l.target.Kind == peer.Real {
		// It saves offsets now and then, and gives out again what they do not cover.
		time.Sleep(4 * offsetsSaved)
	}
	l.target.Kill()
	l.target.Launch()

	again := make(map[string]bool)
	for deadline := time.Now().Add(patience); len(again) < n/2; {
		if time.Now().After(deadline) {
			t.Fatalf("%d messages come back within %v", len(again), patience)
		}
		r, err := s.try(&clients.Command{Op: clients.Receive, Client: c, Max: n, InvisibleMillis: 60_000})
		if err != nil {
			t.Logf("while the server starts: %v", err)
			time.Sleep(100 * time.Millisecond)
			continue
		}
		for _, m := range r.Messages {
			if early := invisible - time.Since(asked); m.Body <= kept || m.Attempt != 2 || early > 0 || again[m.Body] {
				t.Errorf("%s comes as attempt %d, %v early", m.Body, m.Attempt, early)
			}
			again[m.Body] = true
			s.ack(c, m)
		}
	}
	s.send(p, clients.Message{Body: "after"})
	s.ack(c, s.receiveAll(c, 1, time.Minute)["after"])
}
