package proxy

import (
	"time"

	"github.com/wheelmq/wheelmq/test/proxy/clients"
)

// transaction sends one message in a transaction and returns the producer, whose checker answers
// what is asked about it.
func (s *stage) transaction(resolution, checker string) string {
	s.Helper()
	s.setUp("TRANSACTION")
	p := s.create(&clients.Command{Op: clients.Producer, Resolution: checker})
	m := clients.Message{Topic: s.topic, Body: "half", Keys: []string{"order-1"}}
	s.sendOne(&clients.Command{Op: clients.Transaction, Client: p, Resolution: resolution, Message: &m})
	return p
}

func committed(s *stage) {
	s.transaction(clients.Commit, "")
	c := s.simple()
	s.ack(c, s.receiveAll(c, 1, time.Minute)["half"])
}

func rolledBack(s *stage) {
	s.transaction(clients.Rollback, "")
	s.receiveNone(s.simple(), 11*time.Second)
}

// checked: the producer of an open transaction is asked, and what it says happens.
func checked(s *stage) {
	p := s.transaction("", clients.Commit)
	s.eventually("a check", p, func(m []clients.Message) bool { return len(m) >= 1 && m[0].Body == "half" })
	c := s.simple()
	s.ack(c, s.receiveAll(c, 1, time.Minute)["half"])
}

// delay: a message comes at its time and not before.
func delay(s *stage) {
	s.setUp("DELAY")
	p, c := s.producer(), s.simple()
	due := time.Now().Add(4 * time.Second).Truncate(time.Second)
	s.send(p, clients.Message{Body: "later", DeliverAt: due.UnixMilli()})
	m := s.receiveAll(c, 1, time.Minute)["later"]
	if early := time.Until(due); early > 0 {
		s.Errorf("comes %v early", early)
	}
	if m.DeliverAt != due.UnixMilli() {
		s.Errorf("says that it was due at %d, want %d", m.DeliverAt, due.UnixMilli())
	}
	s.ack(c, m)
}

// recall: a message that is taken back does not come.
func recall(s *stage) {
	if s.client == clients.Go {
		s.Skip("this client has no recall")
	}
	s.withLead(15*time.Second, func(lead time.Duration) bool {
		s.setUp("DELAY")
		p, c := s.producer(), s.simple()
		due := time.Now().Add(lead).Truncate(time.Second)
		m := clients.Message{Topic: s.topic, Body: "taken back", DeliverAt: due.UnixMilli()}
		sent := s.sendOne(&clients.Command{Op: clients.Send, Client: p, Message: &m})
		recalled, err := s.try(&clients.Command{Op: clients.Recall, Client: p, Topic: s.topic, Handle: sent.RecallHandle})
		if time.Until(due) < 2*time.Second {
			return false
		}
		if sent.RecallHandle == "" || err != nil {
			s.Fatalf("the recall handle is %q, the recall: %v", sent.RecallHandle, err)
		}
		if recalled.MessageID != sent.MessageID {
			s.Errorf("took back %s, sent %s", recalled.MessageID, sent.MessageID)
		}
		s.receiveNone(c, time.Until(due)+2*time.Second)
		return true
	})
}
