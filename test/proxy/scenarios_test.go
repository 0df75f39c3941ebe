package proxy

import (
	"slices"
	"time"

	"github.com/wheelmq/wheelmq/test/proxy/clients"
)

// scenario is played by every client.
type scenario struct {
	name string
	play func(*stage)
}

var scenarios = []scenario{
	{"contents", contents},
	{"refused", refused},
	{"acks", acks},
	{"long poll", longPoll},
	{"shared", shared},
	{"tags", tags},
	{"SQL", expression},
	{"invisible time", invisibleTime},
	{"longer invisible time", longerInvisibleTime},
	{"received dead letter", receivedDeadLetter},
	{"push", push},
	{"push retry", pushRetry},
	{"push dead letter", pushDeadLetter},
	{"order", order},
	{"push order", pushOrder},
	{"committed", committed},
	{"rolled back", rolledBack},
	{"checked", checked},
	{"delay", delay},
	{"recall", recall},
}

// contents: what was sent is what is received.
func contents(s *stage) {
	s.setUp("NORMAL")
	p, c := s.producer(), s.simple()
	messages := numbered("m", 6)
	for i := range messages {
		messages[i].Tag = "blue"
		messages[i].Keys = []string{"k-" + messages[i].Body}
		messages[i].Properties = map[string]string{"size": "XL"}
	}
	ids := s.send(p, messages...)
	for body, m := range s.receiveAll(c, len(messages), time.Minute) {
		if m.ID != ids[body] || m.Topic != s.topic || m.Tag != "blue" || m.Attempt != 1 ||
			!slices.Equal(m.Keys, []string{"k-" + body}) || m.Properties["size"] != "XL" {
			s.Errorf("sent as %s, received as %+v", ids[body], m)
		}
		s.ack(c, m)
	}
}

// refused: a topic that is not there, and a message of a kind that the topic does not take.
func refused(s *stage) {
	s.setUp("NORMAL")
	p := s.producer()
	if _, err := s.try(&clients.Command{Op: clients.Send, Client: p, Message: &clients.Message{Topic: s.topic, Body: "m", Group: "g"}}); err == nil {
		s.Error("a topic of ordinary messages takes one of a message group")
	}
	missing := &clients.Message{Topic: s.topic + "-missing", Body: "m"}
	if _, err := s.try(&clients.Command{Op: clients.Send, Client: p, Message: missing}); err == nil {
		s.Error("a topic that is not there takes a message")
	}
}

// acks: what is acknowledged is gone, the rest returns when its time is over and not before.
func acks(s *stage) {
	s.withLead(5*time.Second, func(invisible time.Duration) bool {
		const n, kept = 8, "m-4"
		s.setUp("NORMAL")
		p, c := s.producer(), s.simple()
		s.send(p, numbered("m", n)...)
		last := make(map[string]time.Time)
		again := 0
		for deadline := time.Now().Add(patience); again < n-5; {
			if time.Now().After(deadline) {
				s.Fatalf("%d messages, %d of them again, within %v", len(last), again, patience)
			}
			asked := time.Now()
			for _, m := range s.receive(c, n, invisible) {
				switch early := invisible - time.Since(last[m.Body]); {
				case m.Attempt == 1 && last[m.Body].IsZero():
					last[m.Body] = asked
					if m.Body > kept {
						continue
					}
				case m.Attempt != 2 || m.Body <= kept || early > 0:
					s.Errorf("%s returns as attempt %d, %v early", m.Body, m.Attempt, early)
				default:
					again++
				}
				s.ack(c, m)
				if time.Since(asked) >= invisible {
					return false
				}
			}
		}
		s.receiveNone(c, invisible)
		return true
	})
}

// longPoll: who waits is given what arrives.
func longPoll(s *stage) {
	s.setUp("NORMAL")
	p, c := s.producer(), s.simple()
	s.receiveNone(c, time.Millisecond)
	received := make(chan []clients.Message, 1)
	go func() {
		r, err := s.try(&clients.Command{Op: clients.Receive, Client: c, Max: 1, InvisibleMillis: 60_000})
		if err != nil {
			s.Error(err)
			r = new(clients.Reply)
		}
		received <- r.Messages
	}()
	s.send(p, clients.Message{Body: "late"})
	messages := <-received
	if len(messages) == 0 {
		// The poll was over before the message came, on a busy machine.
		messages = []clients.Message{s.receiveAll(c, 1, time.Minute)["late"]}
	}
	s.ack(c, messages[0])
}

// shared: consumers of a group share what there is.
func shared(s *stage) {
	const n = 40
	s.setUp("NORMAL")
	p, consumers := s.producer(), []string{s.simple(), s.simple()}
	s.send(p, numbered("m", n)...)
	seen := make(map[string]bool)
	for deadline, i := time.Now().Add(patience), 0; len(seen) < n && time.Now().Before(deadline); i++ {
		c := consumers[i%len(consumers)]
		for _, m := range s.receive(c, 4, time.Minute) {
			if seen[m.Body] {
				s.Errorf("%s comes twice", m.Body)
			}
			seen[m.Body] = true
			s.ack(c, m)
		}
	}
	if len(seen) != n {
		s.Errorf("%d of %d messages", len(seen), n)
	}
}

func tags(s *stage) {
	s.setUp("NORMAL")
	p := s.producer()
	c := s.create(&clients.Command{Op: clients.Simple, Group: s.group, Filter: "red || blue"})
	s.send(p, clients.Message{Body: "1", Tag: "red"}, clients.Message{Body: "2", Tag: "green"},
		clients.Message{Body: "3", Tag: "blue"}, clients.Message{Body: "4"})
	all := s.receiveAll(c, 2, time.Minute)
	if all["1"].Tag != "red" || all["3"].Tag != "blue" {
		s.Errorf("received %+v", all)
	}
	s.receiveNone(c, await)
}

func expression(s *stage) {
	s.setUp("NORMAL")
	p := s.producer()
	c := s.create(&clients.Command{Op: clients.Simple, Group: s.group, SQL: true, Filter: "price > 10 AND colour = 'red'"})
	properties := func(price, colour string) map[string]string {
		return map[string]string{"price": price, "colour": colour}
	}
	s.send(p, clients.Message{Body: "1", Properties: properties("9", "red")},
		clients.Message{Body: "2", Properties: properties("11", "red")},
		clients.Message{Body: "3", Properties: properties("12", "blue")})
	if all := s.receiveAll(c, 1, time.Minute); all["2"].Attempt != 1 {
		s.Errorf("received %+v", all)
	}
	s.receiveNone(c, await)
}
