package proxy

import (
	"slices"
	"time"

	"github.com/wheelmq/wheelmq/test/proxy/clients"
	"github.com/wheelmq/wheelmq/test/wire"
)

// inGroup gives messages a message group.
func inGroup(group string, messages []clients.Message) []clients.Message {
	for i := range messages {
		messages[i].Group = group
	}
	return messages
}

// order: of a queue that is consumed in order, nothing is given out before what was given out is
// acknowledged; what is not comes again before what follows it.
func order(s *stage) {
	s.setUp("FIFO", wire.Group{RetryMax: 16, Orderly: true})
	p, c := s.producer(), s.simple()
	s.send(p, inGroup("a", numbered("m", 3))...)
	take := func(body string, attempt int, invisible time.Duration) clients.Message {
		s.Helper()
		for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
			if messages := s.receive(c, 1, invisible); len(messages) > 0 {
				m := messages[0]
				if m.Body != body || m.Attempt != attempt || m.Group != "a" {
					s.Fatalf("received %+v, want attempt %d of %s", m, attempt, body)
				}
				return m
			}
		}
		s.Fatalf("%s does not come", body)
		return clients.Message{}
	}
	first := take("m-0", 1, time.Minute)
	s.receiveNone(c, await)
	s.ack(c, first)
	take("m-1", 1, 2*time.Second)
	s.ack(c, take("m-1", 2, time.Minute))
	s.ack(c, take("m-2", 1, time.Minute))
	s.receiveNone(c, await)
}

// pushOrder: listeners meet the messages of a group in order, and again what they failed at before
// they meet what follows. The Go client goes on with what follows by itself, and the Node client
// never tries again.
func pushOrder(s *stage) {
	const n = 6
	times := 1
	if s.client == clients.Java || s.client == clients.Python {
		times = 2
	}
	s.setUp("FIFO", wire.Group{RetryMax: 16, Orderly: true})
	p := s.producer()
	c := s.create(&clients.Command{Op: clients.Push, Group: s.group, Fail: times - 1})
	groups := []string{"a", "b"}
	for i := range n {
		for _, g := range groups {
			s.send(p, inGroup(g, numbered(g, n)[i:i+1])...)
		}
	}
	s.eventually("every message", c, func(m []clients.Message) bool { return len(m) >= times*n*len(groups) })
	for _, g := range groups {
		var got, want []string
		for _, m := range s.on.told(c) {
			if m.Group == g {
				got = append(got, m.Body)
			}
		}
		for _, m := range numbered(g, n) {
			want = append(want, slices.Repeat([]string{m.Body}, times)...)
		}
		if !slices.Equal(got, want) {
			s.Errorf("group %s was delivered as %v", g, got)
		}
	}
}
