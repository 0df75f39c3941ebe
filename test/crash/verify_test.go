package crash

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/wire"
)

// sourceProperty is on the copies of delayed messages and timers: which record they were made from.
const sourceProperty = "__WMQ_SRC"

// left is what is in the topic after the last restart.
type left struct {
	at      map[place]string // bodies
	byID    map[string]int   // how many messages have an id
	sources map[string]int   // how many copies name a source
	stored  map[string]int64 // when the first message with an id was stored, ms since 1970
	timers  int              // copies of timers that name a source
}

func (h *history) drain(t *testing.T) left {
	t.Helper()
	c, err := wire.Open(h.target.BrokerAddr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	l := left{at: make(map[place]string), byID: make(map[string]int), sources: make(map[string]int), stored: make(map[string]int64)}
	for q := range queues {
		for i, m := range c.PullAll(t, wire.Pull{Group: "crash-drain", Topic: topic, QueueID: q}) {
			if m.QueueOffset != int64(i) {
				t.Fatalf("message %d of queue %d has offset %d", i, q, m.QueueOffset)
			}
			l.take(place{q, m.QueueOffset}, m)
		}
	}
	return l
}

func (l *left) take(at place, m wire.Message) {
	id := idOf(m.Body)
	l.at[at] = string(m.Body)
	if l.byID[id]++; l.byID[id] == 1 || m.StoreTimestamp < l.stored[id] {
		l.stored[id] = m.StoreTimestamp
	}
	if source := m.Properties[sourceProperty]; source != "" {
		l.sources[source]++
		if strings.HasPrefix(id, timerID) {
			l.timers++
		}
	}
}

// missing counts the acknowledged messages that are not there.
func (h *history) missing(l left) (n int, example any) {
	for _, s := range h.acked {
		if l.byID[s.id] == 0 {
			n++
			example = s
		}
	}
	for _, m := range h.timers {
		if m.acked && m.cancel == never && l.byID[m.id] == 0 {
			n++
			example = *m
		}
	}
	for key, d := range h.deals.byKey {
		if d.committed && l.byID[strings.TrimPrefix(key, "u")] == 0 {
			n++
			example = *d
		}
	}
	return n, example
}

// verify waits for the delayed messages and compares what is there with what was acknowledged.
func (h *history) verify(t *testing.T) {
	t.Helper()
	if h.target.Kind == peer.Ours {
		h.settleTransactions(t)
	}
	// Those that nobody acknowledged are delivered by then, too.
	time.Sleep(longest + time.Second)
	var l left
	for deadline := time.Now().Add(wire.Timeout); ; time.Sleep(100 * time.Millisecond) {
		l = h.drain(t)
		if n, _ := h.missing(l); n == 0 || time.Now().After(deadline) {
			break
		}
	}
	t.Logf("%v; %d messages are in the topic, %d of them delayed copies, %d of these of timers; %d log files",
		h, len(l.at), len(l.sources), l.timers, h.logFiles(t))
	h.wantSomething(t, l)
	if n, example := h.missing(l); n > 0 {
		t.Errorf("%d of %d acknowledged messages, %d timers and %d commits are lost, such as %+v", n, len(h.acked), h.countTimers().acked, h.countDeals().committed, example)
	}
	h.verifyPlaces(t, l)
	h.verifyOnce(t, l)
	if h.target.Kind == peer.Ours {
		h.verifySources(t, l)
		h.verifyTimers(t, l)
		h.verifyTransactions(t, l)
		h.verifyIndex(t, l)
	}
}

// verifyOnce checks that nothing is there twice but what delay levels deliver.
func (h *history) verifyOnce(t *testing.T, l left) {
	t.Helper()
	twice := 0
	for id, n := range l.byID {
		if n == 1 || strings.HasPrefix(id, delayedID) {
			continue
		}
		if twice++; twice <= 3 {
			t.Errorf("%q was sent once and is there %d times", id, n)
		}
	}
	if twice > 0 {
		t.Errorf("%d messages that were sent once are there more than once", twice)
	}
}

// verifyPlaces checks that what was acknowledged or read at an offset is still there.
func (h *history) verifyPlaces(t *testing.T, l left) {
	t.Helper()
	moved := 0
	for _, s := range h.acked {
		if s.level == 0 && idOf([]byte(l.at[s.place])) != s.id {
			moved++
		}
	}
	for place, body := range h.reads {
		if l.at[place] != body {
			moved++
		}
	}
	if moved > 0 {
		t.Errorf("%d messages are not where they were acknowledged or read", moved)
	}
}

// verifySources checks that no delayed message was delivered twice.
func (h *history) verifySources(t *testing.T, l left) {
	t.Helper()
	records, copies := 0, 0
	for _, n := range l.sources {
		if n > 1 {
			records++
			copies += n - 1
		}
	}
	if copies > 0 {
		t.Errorf("%d delayed messages were delivered more than once, %d copies too many", records, copies)
	}
}

// queries bounds the look-ups by key, which take a while each.
const queries = 3000

// verifyIndex checks that messages are found by their key as often as they are there.
func (h *history) verifyIndex(t *testing.T, l left) {
	t.Helper()
	c := wire.Dial(t, h.target.BrokerAddr)
	wrong, every := 0, 1+len(l.byID)/queries
	for i, id := range slices.Sorted(maps.Keys(l.byID)) {
		if i%every != 0 {
			continue
		}
		messages, _ := c.Query(t, wire.Query{Topic: topic, Key: id})
		foreign := slices.ContainsFunc(messages, func(m wire.Message) bool { return idOf(m.Body) != id })
		if len(messages) == l.byID[id] && !foreign {
			continue
		}
		if wrong++; wrong <= 3 {
			t.Errorf("%q is there %d times and found by key %d times, something else with it: %v", id, l.byID[id], len(messages), foreign)
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d messages are not found by key as they should be", wrong, min(len(l.byID), queries))
	}
}

// wantSomething fails a run in which nothing happened that could go wrong.
func (h *history) wantSomething(t *testing.T, l left) {
	t.Helper()
	if h.target.Kind == peer.Real {
		return // what it does in so few rounds is left to chance
	}
	delayed := 0
	for _, s := range h.acked {
		if s.level > 0 {
			delayed++
		}
	}
	timers, deals := h.countTimers(), h.countDeals()
	for what, n := range map[string]int{
		"plain messages": len(h.acked) - delayed, "delayed messages": delayed, "messages that were read": len(h.reads),
		"firm commits": h.firm, "log files but one": h.logFiles(t) - 1,
		"timers that nobody cancelled": timers.kept, "timers that were surely cancelled": timers.cancelled, "copies of timers that name a source": l.timers,
		"commits of transactions": deals.committed, "rollbacks": deals.rolledBack, "transactions decided when asked": deals.asked,
		"commits repeated after a kill": deals.repeated,
	} {
		if n < 1 {
			t.Errorf("there were %d %s: nothing was tried", n, what)
		}
	}
	if len(l.sources) == 0 {
		t.Error("no copy of a delayed message names its source")
	}
}
