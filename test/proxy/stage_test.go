package proxy

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/proxy/clients"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

const (
	// patience is for failures only: far longer than anything that is expected.
	patience = 4 * time.Minute
	// await is how long a consumer's receive waits for a message.
	await = 2 * time.Second
)

// stage is what one scenario of one client plays on.
type stage struct {
	*testing.T

	lab    *lab
	on     *program
	client string
	topic  string
	group  string
	made   int
}

func newStage(t *testing.T, l *lab, p *program, client string) *stage {
	t.Helper()
	s := &stage{T: t, lab: l, on: p, client: client}
	s.rename()
	return s
}

// rename gives the stage a topic and a group that nobody knows.
func (s *stage) rename() {
	name := func(label string) string { return strings.ReplaceAll(suite.Name(s.T, label), ".", "_") }
	s.topic, s.group = name("t"), name("g")
}

// withLead is suite.WithLead with names of each try's own.
func (s *stage) withLead(lead time.Duration, do func(lead time.Duration) (inTime bool)) {
	s.Helper()
	suite.WithLead(s.T, lead, func(lead time.Duration) bool {
		s.rename()
		return do(lead)
	})
}

// setUp makes the topic, of a message type, and the group.
func (s *stage) setUp(messageType string, group ...wire.Group) {
	s.Helper()
	s.lab.making.Lock()
	defer s.lab.making.Unlock()
	c := wire.Dial(s.T, s.lab.target.BrokerAddr)
	t := wire.Topic{Name: s.topic, Read: 2, Write: 2, Perm: wire.ReadWrite, Attributes: "+message.type=" + messageType}
	if answer := c.CreateTopic(s.T, t); answer.Code != wire.Success {
		s.Fatalf("create topic: %v", answer)
	}
	g := wire.Group{RetryMax: 16}
	if len(group) > 0 {
		g = group[0]
	}
	g.Name = s.group
	c.MustCreateGroup(s.T, g)
}

func (s *stage) do(c *clients.Command) *clients.Reply {
	s.Helper()
	r, err := s.try(c)
	if err != nil {
		s.Fatal(err)
	}
	return r
}

func (s *stage) try(c *clients.Command) (*clients.Reply, error) {
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	return s.on.Do(ctx, c)
}

// create makes a producer or consumer, which is closed at the end, and returns its name.
func (s *stage) create(c *clients.Command) string {
	s.Helper()
	s.made++
	c.Client = fmt.Sprintf("%s-%d", s.topic, s.made)
	if c.Topic == "" {
		c.Topic = s.topic
	}
	if c.Filter == "" {
		c.Filter = "*"
	}
	c.AwaitMillis = int(await / time.Millisecond)
	s.lab.creating <- struct{}{}
	_, err := s.try(c)
	<-s.lab.creating
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if _, err := s.on.Do(ctx, &clients.Command{Op: clients.Close, Client: c.Client}); err != nil {
			s.Log(err)
		}
	})
	return c.Client
}

func (s *stage) producer() string { return s.create(&clients.Command{Op: clients.Producer}) }

func (s *stage) simple() string {
	return s.create(&clients.Command{Op: clients.Simple, Group: s.group})
}

// send sends bodies to the topic, one after the other, and returns their message ids.
func (s *stage) send(producer string, messages ...clients.Message) map[string]string {
	s.Helper()
	ids := make(map[string]string)
	for _, m := range messages {
		m.Topic = s.topic
		ids[m.Body] = s.sendOne(&clients.Command{Op: clients.Send, Client: producer, Message: &m}).MessageID
	}
	return ids
}

// sendOne sends a message. A proxy that was not told a topic's configuration within three seconds says
// that it takes no message of any type, which clients believe until they ask again, 30 s later.
func (s *stage) sendOne(c *clients.Command) *clients.Reply {
	s.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Second) {
		r, err := s.try(c)
		if err == nil {
			return r
		}
		if !strings.Contains(err.Error(), "message type not match") || time.Now().After(deadline) {
			s.Fatal(err)
		}
		s.Log(err)
	}
}

// numbered are n messages with the bodies prefix-0, prefix-1 and so on.
func numbered(prefix string, n int) []clients.Message {
	messages := make([]clients.Message, n)
	for i := range messages {
		messages[i].Body = fmt.Sprintf("%s-%d", prefix, i)
	}
	return messages
}

func (s *stage) receive(consumer string, most int, invisible time.Duration) []clients.Message {
	s.Helper()
	return s.do(&clients.Command{
		Op: clients.Receive, Client: consumer, Max: most, InvisibleMillis: int(invisible / time.Millisecond),
	}).Messages
}

// receiveAll receives until it has n messages, and fails when there are more or one comes twice.
func (s *stage) receiveAll(consumer string, n int, invisible time.Duration) map[string]clients.Message {
	s.Helper()
	all := make(map[string]clients.Message)
	for deadline := time.Now().Add(patience); len(all) < n; {
		if time.Now().After(deadline) {
			s.Fatalf("%d of %d messages within %v", len(all), n, patience)
		}
		for _, m := range s.receive(consumer, 32, invisible) {
			if _, twice := all[m.Body]; twice {
				s.Fatalf("%q comes twice, as attempt %d", m.Body, m.Attempt)
			}
			all[m.Body] = m
		}
	}
	if len(all) > n {
		s.Fatalf("%d messages, want %d", len(all), n)
	}
	return all
}

// receiveNone fails when something is received within a while.
func (s *stage) receiveNone(consumer string, within time.Duration) {
	s.Helper()
	for end := time.Now().Add(within); time.Now().Before(end); {
		for _, m := range s.receive(consumer, 32, time.Minute) {
			s.Fatalf("%q comes, as attempt %d", m.Body, m.Attempt)
		}
	}
}

func (s *stage) ack(consumer string, m clients.Message) {
	s.Helper()
	s.do(&clients.Command{Op: clients.Ack, Client: consumer, Ref: m.Ref})
}

func (s *stage) invisible(consumer string, m clients.Message, d time.Duration) {
	s.Helper()
	s.do(&clients.Command{Op: clients.Invisible, Client: consumer, Ref: m.Ref, InvisibleMillis: int(d / time.Millisecond)})
}

// eventually waits until the events of a producer or consumer are as wanted.
func (s *stage) eventually(what, name string, ok func([]clients.Message) bool) {
	s.Helper()
	for deadline := time.Now().Add(patience); !ok(s.on.told(name)); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.Fatalf("not within %v: %s; was told %+v", patience, what, s.on.told(name))
		}
	}
}
