package proxy

import (
	"time"

	"github.com/wheelmq/wheelmq/test/proxy/clients"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// invisibleTime: a shorter time brings the message back earlier.
func invisibleTime(s *stage) {
	const shorter = time.Second
	s.setUp("NORMAL")
	p, c := s.producer(), s.simple()
	s.send(p, clients.Message{Body: "m"})
	begin := time.Now()
	s.invisible(c, s.receiveAll(c, 1, 5*time.Minute)["m"], shorter)
	m := s.receiveAll(c, 1, time.Minute)["m"]
	if early := shorter - time.Since(begin); early > 0 || m.Attempt != 2 {
		s.Errorf("returns as attempt %d, %v early", m.Attempt, early)
	}
	s.ack(c, m)
}

// longerInvisibleTime: a message that was asked to stay away longer does, and is acknowledged with the
// receipt that this gave.
func longerInvisibleTime(s *stage) {
	s.withLead(10*time.Second, func(shorter time.Duration) bool {
		longer := shorter + 4*time.Second
		s.setUp("NORMAL")
		p, c := s.producer(), s.simple()
		s.send(p, clients.Message{Body: "m"})
		asked := time.Now()
		m := s.receiveAll(c, 1, shorter)["m"]
		begin := time.Now()
		s.invisible(c, m, longer)
		if s.invisible(c, m, longer); time.Since(asked) >= shorter {
			return false
		}
		m = s.receiveAll(c, 1, shorter)["m"]
		if early := longer - time.Since(begin); early > 0 || m.Attempt != 2 {
			s.Errorf("returns as attempt %d, %v early", m.Attempt, early)
		}
		again := time.Now()
		s.invisible(c, m, shorter)
		if s.ack(c, m); time.Since(again) >= shorter-await {
			return false
		}
		s.receiveNone(c, shorter+4*time.Second)
		return true
	})
}

// receivedDeadLetter: what was received as often as the group allows is a dead letter.
func receivedDeadLetter(s *stage) {
	s.setUp("NORMAL", wire.Group{RetryMax: 1})
	p, c := s.producer(), s.simple()
	s.send(p, clients.Message{Body: "dead", Properties: map[string]string{"size": "XL"}})
	for attempt := 1; attempt <= 2; attempt++ {
		if m := s.receiveAll(c, 1, time.Second)["dead"]; m.Attempt != attempt {
			s.Fatalf("attempt %d, want %d", m.Attempt, attempt)
		}
	}
	s.receiveNone(c, 6*time.Second)
	s.deadLetter("dead")
}

// deadLetter waits for the one dead letter of the group.
func (s *stage) deadLetter(body string) {
	s.Helper()
	dead := "%DLQ%" + s.group
	c := wire.Dial(s.T, s.lab.target.BrokerAddr)
	suite.Eventually(s.T, patience, "a dead letter", func() bool { return c.MaxOffset(s.T, dead, 0) > 0 })
	messages := c.PullAll(s.T, wire.Pull{Group: s.group + "-dead", Topic: dead})
	if len(messages) != 1 || string(messages[0].Body) != body {
		s.Errorf("dead letters are %+v, want one with the body %q", messages, body)
	}
}

// push: a listener gets everything once.
func push(s *stage) {
	s.setUp("NORMAL")
	p := s.producer()
	c := s.create(&clients.Command{Op: clients.Push, Group: s.group})
	s.send(p, numbered("m", 20)...)
	s.eventually("20 deliveries", c, func(m []clients.Message) bool { return len(m) >= 20 })
	for body, times := range countBodies(s.on.told(c)) {
		if times != 1 {
			s.Errorf("%s was delivered %d times", body, times)
		}
	}
}

func countBodies(messages []clients.Message) map[string]int {
	times := make(map[string]int)
	for _, m := range messages {
		times[m.Body]++
	}
	return times
}

// pushRetry: what a listener failed at comes again.
func pushRetry(s *stage) {
	s.setUp("NORMAL")
	p := s.producer()
	c := s.create(&clients.Command{Op: clients.Push, Group: s.group, Fail: 1})
	s.send(p, numbered("m", 3)...)
	s.eventually("6 deliveries", c, func(m []clients.Message) bool { return len(m) >= 6 })
	attempts := make(map[string]int)
	for _, m := range s.on.told(c) {
		attempts[m.Body]++
		if m.Attempt != attempts[m.Body] {
			s.Errorf("delivery %d of %s is attempt %d", attempts[m.Body], m.Body, m.Attempt)
		}
	}
}

// pushDeadLetter: what a listener failed at as often as the group allows is a dead letter.
func pushDeadLetter(s *stage) {
	s.setUp("NORMAL", wire.Group{RetryMax: 1})
	p := s.producer()
	c := s.create(&clients.Command{Op: clients.Push, Group: s.group, Fail: 99})
	s.send(p, clients.Message{Body: "dead"})
	s.deadLetter("dead")
	if n := len(s.on.told(c)); n != 2 {
		s.Errorf("%d deliveries, want 2", n)
	}
}
