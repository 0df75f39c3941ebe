package broker_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/broker/client"
	"github.com/wheelmq/wheelmq/broker/inflight"
	"github.com/wheelmq/wheelmq/internal/await"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	await.Until(t, what, cond)
}

func opened(t *testing.T) *lab {
	l := newLab(t)
	l.open(startMs)
	t.Cleanup(l.close)
	return l
}

func (l *lab) busy() []inflight.Work {
	l.t.Helper()
	ctx, cancel := within()
	defer cancel()
	work, err := l.broker.InFlight().Busy(ctx)
	if err != nil {
		l.t.Fatal(err)
	}
	return work
}

func (l *lab) consumed(group string) int64 {
	l.t.Helper()
	ctx, cancel := within()
	defer cancel()
	n, err := l.broker.InFlight().Consumed(ctx, group)
	if err != nil {
		l.t.Fatal(err)
	}
	return n
}

// TestInFlight follows three messages through a consumer: nobody has them, it was given them, it
// has finished with two, with all.
func TestInFlight(t *testing.T) {
	t.Parallel()
	l := opened(t)
	for range 3 {
		l.send("T", 0, "x", 0)
	}
	if work := l.busy(); work != nil {
		t.Fatalf("nobody is online, and busy is %v", work)
	}
	m := l.passively("G", "T")
	defer m.leave()
	work := l.busy()
	if len(work) != 1 || work[0].String() != "group G, topic T, queue 0: done up to 0 of 3, no client pulls" {
		t.Fatalf("before the first pull %v", work)
	}
	m.consume("T", 0, 0)
	eventually(t, "the delivery", func() bool { return m.took("T", 0) == 3 })
	work = l.busy()
	if len(work) != 1 || !strings.Contains(work[0].String(), "done up to 0 of 3, client "+m.clientID+" has messages") {
		t.Fatalf("with three messages %v", work)
	}
	if n := l.consumed("G"); n != 0 {
		t.Fatalf("%d are consumed", n)
	}
	m.finish("T", 0, 2)
	eventually(t, "two are done", func() bool { work := l.busy(); return len(work) == 1 && work[0].Done == 2 })
	if n := l.consumed("G"); n != 2 {
		t.Fatalf("%d are consumed, want 2", n)
	}
	m.finish("T", 0, 3)
	eventually(t, "all are done", func() bool { return l.busy() == nil })
	if n := l.consumed("G"); n != 3 {
		t.Fatalf("%d are consumed, want 3", n)
	}
	l.send("T", 1, "y", 0)
	if work := l.busy(); len(work) != 1 || work[0].QueueID != 1 {
		t.Fatalf("with a message in a queue that nobody pulls %v", work)
	}
}

// TestInFlight_NotWaitedFor are groups that a clock does not stop for.
func TestInFlight_NotWaitedFor(t *testing.T) {
	t.Parallel()
	for name, join := range map[string]func(*lab) *member{
		"pulls when it likes": func(l *lab) *member { return l.join("G", client.ConsumeActively, client.Clustering, "*", "T") },
		"another topic":       func(l *lab) *member { return l.passively("G", "U") },
		"wants none of them":  func(l *lab) *member { return l.join("G", client.ConsumePassively, client.Clustering, "TagB", "T") },
		"wants none of them by SQL": func(l *lab) *member {
			return l.joinBy(remoting.LanguageJava, "G", client.ConsumePassively, client.Clustering, "SQL92", "a IS NOT NULL", "T")
		},
		"began behind them": func(l *lab) *member {
			m := l.passively("G", "T")
			m.silent = true
			m.consume("T", 0, 3)
			eventually(l.t.(*testing.T), "the pull", func() bool { return l.busy() == nil })
			return m
		},
		"has left": func(l *lab) *member {
			m := l.passively("G", "T")
			m.leave()
			m.gone = make(chan struct{})
			return m
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := opened(t)
			for range 3 {
				l.send("T", 0, "x", 0)
			}
			m := join(l)
			defer m.leave()
			if work := l.busy(); work != nil {
				t.Fatalf("busy is %v", work)
			}
		})
	}
}

// TestInFlight_SentBack takes what comes back for no success, and the retry for a message of its
// own.
func TestInFlight_SentBack(t *testing.T) {
	t.Parallel()
	l := opened(t)
	l.send("T", 0, "x", 0)
	m := l.passively("G", "T", "%RETRY%G")
	defer m.leave()
	m.consume("T", 0, 0)
	eventually(t, "the delivery", func() bool { return m.took("T", 0) == 1 })
	var at int64
	if err := l.broker.EachMessage("T", func(v *message.View) error { at = v.CommitLogOffset; return nil }); err != nil {
		t.Fatal(err)
	}
	l.sendBack("G", at)
	m.finish("T", 0, 1)
	eventually(t, "nothing is in flight", func() bool { return l.busy() == nil })
	if n := l.consumed("G"); n != 0 {
		t.Fatalf("%d are consumed, want none", n)
	}
	ctx, cancel := within()
	defer cancel()
	if _, err := l.broker.VirtualTime().AdvanceToNext(ctx); err != nil {
		t.Fatal(err)
	}
	if work := l.busy(); len(work) != 1 || work[0].Topic != "%RETRY%G" {
		t.Fatalf("when the retry is due %v", work)
	}
	m.consume("%RETRY%G", 0, 0)
	eventually(t, "the retry", func() bool { return m.took("%RETRY%G", 0) == 1 })
	m.finish("%RETRY%G", 0, 1)
	eventually(t, "the success", func() bool { return l.consumed("G") == 1 && l.busy() == nil })
}

// TestInFlight_Rebalance hands a queue from one member to another: what the first one held comes
// again and is counted once.
func TestInFlight_Rebalance(t *testing.T) {
	t.Parallel()
	l := opened(t)
	for range 4 {
		l.send("T", 0, "x", 0)
	}
	first := l.passively("G", "T")
	first.consume("T", 0, 0)
	eventually(t, "the delivery", func() bool { return first.took("T", 0) == 4 })
	first.finish("T", 0, 1)
	eventually(t, "progress", func() bool { return l.consumed("G") == 1 })
	first.leave()
	second := l.passively("G", "T")
	defer second.leave()
	second.consume("T", 0, 1)
	eventually(t, "the delivery to the second", func() bool { return second.took("T", 0) == 3 })
	if n := l.consumed("G"); n != 1 {
		t.Fatalf("%d are consumed, want 1", n)
	}
	second.finish("T", 0, 4)
	eventually(t, "all are done", func() bool { return l.busy() == nil })
	if n := l.consumed("G"); n != 4 {
		t.Fatalf("%d are consumed, want 4", n)
	}
}

// TestInFlight_Broadcast waits for each member of a group that broadcasts. One that can be asked
// says what it holds; a Go client has finished when it was given everything.
func TestInFlight_Broadcast(t *testing.T) {
	t.Parallel()
	l := opened(t)
	l.send("T", 0, "x", 0)
	java := l.join("G", client.ConsumePassively, client.Broadcasting, "*", "T")
	defer java.leave()
	golang := l.joinAs(remoting.LanguageGo, "G", client.ConsumePassively, client.Broadcasting, "*", "T")
	defer golang.leave()
	java.holds.Store(1)
	golang.holds.Store(1)
	if work := l.busy(); len(work) != 2 {
		t.Fatalf("before the first pull %v", work)
	}
	java.consume("T", 0, 0)
	golang.consume("T", 0, 0)
	eventually(t, "the deliveries", func() bool { return java.took("T", 0) == 1 && golang.took("T", 0) == 1 })
	if work := l.busy(); len(work) == 0 || work[0].ClientID != java.clientID {
		t.Fatalf("while a client holds a message %v", work)
	}
	java.holds.Store(0)
	eventually(t, "nothing is in flight", func() bool { return l.busy() == nil })
	if n := l.consumed("G"); n != 2 {
		t.Fatalf("%d are consumed, want 2", n)
	}
}

// TestInFlight_DeletedTopic begins anew with a topic of the same name.
func TestInFlight_DeletedTopic(t *testing.T) {
	t.Parallel()
	l := opened(t)
	l.send("T", 0, "x", 0)
	m := l.passively("G", "T")
	m.consume("T", 0, 0)
	eventually(t, "the delivery", func() bool { return m.took("T", 0) == 1 })
	m.finish("T", 0, 1)
	eventually(t, "the end of the work", func() bool { return l.busy() == nil })
	m.leave()
	var ext remoting.ExtWriter
	req := remoting.TopicRequest{Topic: "T"}
	req.Encode(&ext)
	l.call(remoting.DeleteTopicInBroker, &ext, nil)
	l.send("T", 0, "y", 0)
	m = l.passively("G", "T")
	defer m.leave()
	if work := l.busy(); len(work) != 1 {
		t.Fatalf("with a message in the new topic %v", work)
	}
	if n := l.consumed("G"); n != 0 {
		t.Fatalf("%d are consumed, want none of the new topic", n)
	}
}

// TestInFlight_Pops: what a member has popped is waited for until it is acknowledged, put off, or visible again, and
// what comes back until it is popped.
func TestInFlight_Pops(t *testing.T) {
	t.Parallel()
	l := opened(t)
	for range 4 {
		l.send("T", 0, "x", 0)
	}
	m := l.passively("G", "T")
	busy := func(want string) {
		t.Helper()
		if work := l.busy(); fmt.Sprint(work) != "["+want+"]" {
			t.Fatalf("busy is %v, want %s", work, want)
		}
	}
	busy("group G, topic T, queue 0: done up to 0 of 4, no client pulls")
	at := m.pop("T", 4)
	holds := "group G, topic T, queue 0: client " + m.clientID + " has popped %d messages and not acknowledged them"
	busy(fmt.Sprintf(holds, 4))
	m.ack("T", 0, at)
	m.putOff("T", 1, at, 1000)
	busy(fmt.Sprintf(holds, 2))
	m.ack("T", 2, at)
	m.putOff("T", 3, at, 30_000)
	busy("")
	ctx, cancel := within()
	defer cancel()
	if _, err := l.broker.VirtualTime().AdvanceToNext(ctx); err != nil {
		t.Fatal(err)
	}
	busy("group G, topic %RETRY%G_T, queue 0: done up to 0 of 1, no client pulls")
	again := m.pop("T", 1)
	busy(strings.Replace(fmt.Sprintf(holds, 1), "topic T", "topic %RETRY%G_T", 1))
	m.ack("%RETRY%G_T", 0, again)
	busy("")
	if n := l.consumed("G"); n != 3 {
		t.Errorf("%d are consumed, want 3", n)
	}
	m.leave()
	busy("")
}

// TestInFlight_PopsOfTheGone: nobody waits for a member that is gone, or for what it is to lose in time.
func TestInFlight_PopsOfTheGone(t *testing.T) {
	t.Parallel()
	l := opened(t)
	l.send("T", 0, "x", 0)
	first, second := l.passively("G", "T"), l.passively("G", "T")
	defer second.leave()
	first.pop("T", 1)
	if work := l.busy(); len(work) != 1 || work[0].Popped != 1 {
		t.Fatalf("busy is %v", work)
	}
	first.leave()
	if work := l.busy(); work != nil {
		t.Fatalf("its client is gone, and busy is %v", work)
	}
}
