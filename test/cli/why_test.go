package cli

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

type explanation struct {
	Topic, State, Sentence string
	DueMs                  int64
	Groups                 []struct{ Group, State, Says string }
	Records                []struct{ Topic string }
}

// story is a topic with one group, and messages in it.
type story struct {
	t            *testing.T
	c            *wire.Conn
	topic, group string
}

func newStory(t *testing.T) *story {
	t.Parallel()
	s := &story{t: t, c: dial(t), topic: suite.Name(t, "topic"), group: suite.Name(t, "group")}
	s.c.MustCreateTopic(t, s.topic, 1)
	wire.Introduce(t, suite.Server().BrokerAddr, s.group, s.topic)
	return s
}

// newID makes an id as clients do.
func newID() string { return fmt.Sprintf("7F000001%016X%08X", rand.Uint64()|1<<60, rand.Uint32()) }

// send stores a message and returns its id and where it is.
func (s *story) send(properties ...string) (id string, at wire.Sent) {
	s.t.Helper()
	id = newID()
	at = s.c.MustSend(s.t, wire.Send{Topic: s.topic, Body: []byte("x"), Properties: wire.Properties(append([]string{"UNIQ_KEY", id}, properties...)...)})
	return id, at
}

// why waits until the message is in a state; the sentence is to say something.
func (s *story) why(id, state, says string) explanation {
	s.t.Helper()
	var e explanation
	suite.Eventually(s.t, patience, fmt.Sprintf("%s is %s and %q is said", id, state, says), func() bool {
		o := run(s.t, "why", id, "--topic", s.topic)
		if o.code == exitNotFound {
			return false // the index is not that far
		}
		must(s.t, &e, "why", id, "--topic", s.topic)
		ok := e.State == state && strings.Contains(e.Sentence, says)
		if !ok {
			s.t.Logf("now: %+v", e)
		}
		return ok
	})
	if e.Topic != s.topic {
		s.t.Errorf("the topic is %q, want %q", e.Topic, s.topic)
	}
	return e
}

func TestWhy_StoredThenConsumed(t *testing.T) {
	s := newStory(t)
	first, _ := s.send()
	second, at := s.send()
	s.c.Commit(t, s.group, s.topic, 0, 0)
	s.why(first, "stored", "has it to consume next")
	s.why(second, "stored", "has 1 messages of its queue to consume before it")
	s.c.Commit(t, s.group, s.topic, 0, 2)
	s.why(second, "consumed", "group "+s.group+" has consumed it")
	var e explanation
	must(t, &e, "why", at.MsgID)
	if e.State != "consumed" || e.Topic != s.topic {
		t.Errorf("by the record's id: %+v", e)
	}
	fails(t, exitNotFound, "not found", "why", newID(), "--topic", s.topic)
}

func TestWhy_NobodyReadsIt(t *testing.T) {
	s := newStory(t)
	s.group = ""
	id, _ := s.send()
	s.why(id, "stored", "no group reads its topic")
}

func TestWhy_Traced(t *testing.T) {
	s := newStory(t)
	id, _ := s.send()
	s.c.Commit(t, s.group, s.topic, 0, 1)
	const at = 1_700_000_000_123
	record := strings.Join([]string{"SubAfter", "REQUEST", id, "4", "true", "", "0", fmt.Sprint(at), s.group}, "\x01") + "\x02"
	s.c.MustSend(t, wire.Send{Topic: "RMQ_SYS_TRACE_TOPIC", DefaultQueues: 1, Body: []byte(record), Properties: wire.Properties("KEYS", id)})
	s.why(id, "consumed", "consumed it at 2023-11-14T22:13:20.123Z")
}

func TestWhy_Delayed(t *testing.T) {
	s := newStory(t)
	id, _ := s.send("DELAY", "5")
	if e := s.why(id, "delayed", "level 5, queue 4, due "); e.DueMs == 0 || !strings.Contains(e.Sentence, ", in ") {
		t.Errorf("got %+v", e)
	}
	short, _ := s.send("DELAY", "1")
	s.why(short, "stored", "in queue 0")
}

func TestWhy_Timer(t *testing.T) {
	s := newStory(t)
	id, _ := s.send("TIMER_DELAY_MS", "100000")
	if e := s.why(id, "timer", "due "); e.DueMs == 0 {
		t.Errorf("got %+v", e)
	}
	short, _ := s.send("TIMER_DELAY_MS", "1000")
	s.why(short, "stored", "in queue 0")
}

func TestWhy_Recalled(t *testing.T) {
	s := newStory(t)
	var sent struct{ MsgID, RecallHandle string }
	must(t, &sent, "send", s.topic, "x", "--in", "90s")
	answer := s.c.Call(t, wire.RecallMessage, map[string]string{"topic": s.topic, "recallHandle": sent.RecallHandle, "producerGroup": "p"}, nil)
	if answer.Code != wire.Success {
		t.Fatalf("recall: %v", answer)
	}
	s.why(sent.MsgID, "cancelled", "was cancelled at ")
}

func TestWhy_Transactions(t *testing.T) {
	s := newStory(t)
	producers := suite.Name(t, "producers")
	open := s.c.Prepare(t, s.topic, producers, newID())
	s.why(open.UniqKey, "half", "group "+producers+" has said neither commit nor rollback")
	s.c.End(t, open, wire.RollbackTransaction, false)
	s.why(open.UniqKey, "rolledBack", "was rolled back")
	kept := s.c.Prepare(t, s.topic, producers, newID())
	s.c.End(t, kept, wire.CommitTransaction, false)
	s.why(kept.UniqKey, "stored", "in queue 0")
}

func TestWhy_RetriedThenDead(t *testing.T) {
	s := newStory(t)
	id, at := s.send()
	s.c.Commit(t, s.group, s.topic, 0, 1)
	if answer := s.c.SendBack(t, s.group, s.topic, at.CommitLogOffset, 5); answer.Code != wire.Success {
		t.Fatalf("send back: %v", answer)
	}
	s.why(id, "retried", "failed at it once and is given it again: level 5, queue 4, due ")
	dead, at := s.send()
	s.c.Commit(t, s.group, s.topic, 0, 2)
	if answer := s.c.SendBack(t, s.group, s.topic, at.CommitLogOffset, -1); answer.Code != wire.Success {
		t.Fatalf("send back: %v", answer)
	}
	s.why(dead, "dead", "gave it up at ")
}

func TestWhy_RetriedAndConsumed(t *testing.T) {
	s := newStory(t)
	id, at := s.send()
	s.c.Commit(t, s.group, s.topic, 0, 1)
	if answer := s.c.SendBack(t, s.group, s.topic, at.CommitLogOffset, 1); answer.Code != wire.Success {
		t.Fatalf("send back: %v", answer)
	}
	s.why(id, "retried", "the next attempt is in its retry topic")
	s.c.Commit(t, s.group, "%RETRY%"+s.group, 0, 1)
	s.why(id, "consumed", "after 1 retries")
}

func TestWhy_Filtered(t *testing.T) {
	s := newStory(t)
	id, _ := s.send("TAGS", "red")
	wanted, _ := s.send("TAGS", "blue")
	s.c.Heartbeat(t, wire.Member{ClientID: "member", Group: s.group, Subscriptions: map[string]string{s.topic: "blue"}})
	s.c.Commit(t, s.group, s.topic, 0, 2)
	s.why(id, "filtered", `its tags are "red", the group subscribes to TAG "blue"`)
	s.why(wanted, "consumed", "")
}

func TestWhy_FilteredBySQL(t *testing.T) {
	s := newStory(t)
	id, _ := s.send("n", "3")
	wanted, _ := s.send("n", "4")
	s.c.Heartbeat(t, wire.Member{ClientID: "member", Group: s.group, Subscriptions: map[string]string{s.topic: "n > 3"}, ExpressionType: "SQL92"})
	s.why(id, "filtered", `SQL92 "n > 3"`)
	s.why(wanted, "stored", "")
}

// The real broker does not tell what is in flight.
func TestWhy_InFlight(t *testing.T) {
	if peer.TargetKind() == peer.Real {
		t.Skip("the real broker does not tell")
	}
	s := newStory(t)
	id, _ := s.send()
	popped := s.c.MustPop(t, wire.Pop{Group: s.group, Topic: s.topic, QueueID: wire.AnyQueue, Poll: patience})
	if len(popped.Messages) != 1 {
		t.Fatalf("popped %+v", popped)
	}
	if e := s.why(id, "inFlight", "has not acknowledged it: visible again "); e.DueMs < popped.PopTime+59_000 {
		t.Errorf("got %+v, popped at %d", e, popped.PopTime)
	}
	s.c.Ack(t, popped.Messages[0])
	s.why(id, "consumed", "")
	// One that a consumer was given and failed at.
	again, _ := s.send()
	popped = s.c.MustPop(t, wire.Pop{Group: s.group, Topic: s.topic, QueueID: wire.AnyQueue, Poll: patience, Invisible: time.Second})
	if len(popped.Messages) != 1 {
		t.Fatalf("popped %+v", popped)
	}
	s.why(again, "retried", "failed at it once; the next attempt is in its retry topic")
}

// The real broker tries a target that is gone for ever, out of sight.
func TestWhy_Parked(t *testing.T) {
	if peer.TargetKind() == peer.Real {
		t.Skip("the real broker parks nothing")
	}
	s := newStory(t)
	id, _ := s.send("DELAY", "2")
	if o := run(t, "topics", "delete", s.topic, "--yes"); o.code != 0 {
		t.Fatalf("%+v", o)
	}
	s.why(id, "parked", "unless it was dropped")
}

func TestWhy_ForPeople(t *testing.T) {
	s := newStory(t)
	id, _ := s.send()
	s.c.Commit(t, s.group, s.topic, 0, 0)
	s.why(id, "stored", "")
	o := run(t, "why", id)
	lines := strings.Split(strings.TrimSpace(o.stdout), "\n")
	if len(lines) != 3 || !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "stored:") && strings.Contains(l, "offset 0") }) ||
		!strings.HasPrefix(lines[1], "group "+s.group+":") || !strings.HasPrefix(lines[2], "record:") {
		t.Errorf("printed\n%s", o.stdout)
	}
}
