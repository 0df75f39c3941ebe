package broker_test

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wheelmq/wheelmq/message"
)

// fate is what a producer has decided about a transaction.
type fate uint8

const (
	undecided fate = iota
	committed
	rolledBack
)

// deal is a transaction as its producer and the model know it.
type deal struct {
	half
	fate fate
	// told: the broker has heard of it, and may forget that only as a power cut lets it.
	told bool
}

// deals is what a broker must make of transactions: those committed are in the topic once, no other
// is ever.
type deals struct {
	*lab
	p        *producer
	now      int64
	all      map[string]*deal // by body
	open     []string
	sent     int
	lastSeen map[string]int64 // when the producer was asked last
}

// TestTransaction_AnyFate prepares, commits, rolls back, repeats, answers checks or not, restarts,
// kills and cuts the power, at random. What is committed is in the topic once; what is not, never.
func TestTransaction_AnyFate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		m := &deals{lab: newLab(rt), now: startMs, all: make(map[string]*deal), lastSeen: make(map[string]int64)}
		m.config.TransactionCheckMax = 60_000
		if rapid.Bool().Draw(rt, "sync") {
			m.config.FlushDiskType = "SYNC_FLUSH"
		}
		m.lab.open(m.now)
		m.p = m.produce("P")
		defer func() { m.close() }()
		rt.Repeat(map[string]func(*rapid.T){
			"": m.check, "prepare": m.prepareSome, "decide": m.decide, "repeat": m.repeat, "advance": m.turn, "answer": m.answer,
			"restart": m.restartAll, "kill": m.killAll, "cut the power": m.cut, "save": m.save,
		})
		m.conclude(rt)
	})
}

func (m *deals) prepareSome(rt *rapid.T) {
	for range rapid.IntRange(1, 20).Draw(rt, "messages") {
		m.sent++
		body := "m" + strconv.Itoa(m.sent)
		m.all[body] = &deal{half: m.p.prepare("T", body)}
		m.open = append(m.open, body)
	}
}

// decide ends some transactions.
func (m *deals) decide(rt *rapid.T) {
	for range min(len(m.open), rapid.IntRange(1, 10).Draw(rt, "decisions")) {
		i := rapid.IntRange(0, len(m.open)-1).Draw(rt, "which")
		m.end(m.open[i], rapid.SampledFrom([]fate{committed, committed, rolledBack}).Draw(rt, "fate"))
		m.open = append(m.open[:i], m.open[i+1:]...)
	}
}

func (m *deals) end(body string, f fate) {
	d := m.all[body]
	d.fate, d.told = f, true
	if f == committed {
		m.p.commit(d.half)
	} else {
		m.p.rollback(d.half)
	}
}

// repeat says again what was said before.
func (m *deals) repeat(rt *rapid.T) {
	body := "m" + strconv.Itoa(rapid.IntRange(1, max(1, m.sent)).Draw(rt, "which"))
	if d := m.all[body]; d != nil && d.fate != undecided {
		m.end(body, d.fate)
	}
}

// turn lets time pass.
func (m *deals) turn(rt *rapid.T) {
	d := time.Duration(rapid.Int64Range(1, 40_000).Draw(rt, "ms")) * time.Millisecond
	m.advance(d)
	m.now += d.Milliseconds()
}

// answer answers what was asked: by what is decided, by a decision, or not at all.
func (m *deals) answer(rt *rapid.T) {
	for _, q := range m.p.questions() {
		d := m.all[q.body]
		if d == nil {
			continue // a power cut took it, and it is not the producer's any more
		}
		if last, ok := m.lastSeen[q.body]; ok && q.at < last {
			rt.Fatalf("asked about %s at %d after %d", q.body, q.at, last)
		}
		m.lastSeen[q.body] = q.at
		if d.fate == undecided && rapid.Bool().Draw(rt, "decides") {
			d.fate = rapid.SampledFrom([]fate{committed, rolledBack}).Draw(rt, "fate")
			m.forget(q.body)
		}
		how := map[fate]int32{committed: message.SysFlagCommit, rolledBack: message.SysFlagRollback}[d.fate]
		if how == 0 {
			continue
		}
		at := half{q.header.TranStateTableOffset, q.header.CommitLogOffset, q.body}
		if reply := m.p.end(at, how, true); reply.Code != 0 {
			rt.Fatalf("answer about %s: %d, %s", q.body, reply.Code, reply.Remark)
		}
		d.told = true
	}
}

func (m *deals) forget(body string) {
	for i, b := range m.open {
		if b == body {
			m.open = append(m.open[:i], m.open[i+1:]...)
			return
		}
	}
}

func (m *deals) save(rt *rapid.T) {
	if err := m.broker.Save(); err != nil {
		rt.Fatal(err)
	}
}

func (m *deals) restartAll(*rapid.T) {
	m.restart()
	m.p = m.produce("P")
}

func (m *deals) killAll(*rapid.T) {
	m.kill()
	m.p = m.produce("P")
}

// cut leaves what was durable and some of the rest: what the broker lost of half messages is gone, of
// ends is asked for again.
func (m *deals) cut(rt *rapid.T) {
	if raced {
		return
	}
	disk := m.disk.PowerCut(rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0)))
	m.close()
	m.disk = disk
	m.lab.open(0)
	m.p = m.produce("P")
	left := make(map[string]bool)
	if err := m.broker.EachRecord(func(v *message.View) error {
		if string(v.Topic) == message.TopicTransHalf {
			left[string(v.Body)] = true
		}
		return nil
	}); err != nil {
		rt.Fatal(err)
	}
	for body := range m.all {
		if left[body] {
			continue
		}
		if m.config.FlushDiskType == "SYNC_FLUSH" {
			rt.Fatalf("half message %s was durable and is lost", body)
		}
		delete(m.all, body)
		m.forget(body)
	}
}

// check looks at the topic now: nothing twice, nothing that was not committed.
func (m *deals) check(rt *rapid.T) {
	seen := make(map[string]bool)
	for _, body := range m.bodies("T") {
		if d := m.all[body]; seen[body] || d == nil || d.fate != committed {
			rt.Fatalf("%s is in the topic: twice %v, %+v", body, seen[body], d)
		}
		seen[body] = true
	}
}

// conclude has the broker ask until nothing is open, and expects every committed one in the topic.
func (m *deals) conclude(rt *rapid.T) {
	for range 3 {
		m.advance(40 * time.Second)
		for _, q := range m.p.questions() {
			d := m.all[q.body]
			if d == nil {
				continue
			}
			if d.fate == undecided {
				d.fate = rolledBack
			}
			how := map[fate]int32{committed: message.SysFlagCommit, rolledBack: message.SysFlagRollback}[d.fate]
			if reply := m.p.end(half{q.header.TranStateTableOffset, q.header.CommitLogOffset, q.body}, how, true); reply.Code != 0 {
				rt.Fatalf("answer about %s: %d, %s", q.body, reply.Code, reply.Remark)
			}
		}
	}
	m.check(rt)
	in := make(map[string]bool)
	for _, body := range m.bodies("T") {
		in[body] = true
	}
	for body, d := range m.all {
		if d.fate == committed && !in[body] {
			rt.Fatalf("%s was committed and is not in the topic", body)
		}
	}
	if n := m.broker.OpenTransactions(); n != 0 {
		rt.Fatalf("%d transactions are open, want none", n)
	}
}
