package broker_test

import (
	"flag"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/message"
)

// transactions is how many TestTransaction_Many makes; make crash makes 100,000.
var transactions = flag.Int("transactions", 3000, "transactions of TestTransaction_Many")

// TestTransaction_Many has many transactions committed, rolled back, left to the checks, some of them
// delayed, over kills: those committed are in the topic once, those rolled back never, and every
// producer is asked on time.
func TestTransaction_Many(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.config.TransactionCheckMax = 60_000
	// In real time, of which a slow machine takes much: no client sends heartbeats here.
	l.config.ChannelExpiredTimeout = int64(time.Hour / time.Millisecond)
	l.open(startMs)
	t.Cleanup(func() { l.close() })
	m := &many{lab: l, p: l.produce("P"), rng: rand.New(rand.NewPCG(1, 2)), fates: make(map[string]fate), born: make(map[string]int64), asked: make(map[string]bool)}
	step := max(1, *transactions/20)
	for from := 0; from < *transactions; from += step {
		for i := from; i < min(from+step, *transactions); i++ {
			m.deal(i)
		}
		m.advance(time.Duration(m.rng.Int64N(20_000)) * time.Millisecond)
		m.answer(t)
		if m.rng.IntN(2) == 0 {
			m.kill()
			m.p = m.produce("P")
		}
	}
	for range 4 {
		m.advance(31 * time.Second)
		m.answer(t)
	}
	m.advance(time.Minute) // the last delays
	m.conclude(t)
}

// many is the producer's side.
type many struct {
	*lab
	p     *producer
	rng   *rand.Rand
	fates map[string]fate // by body
	born  map[string]int64
	asked map[string]bool
	late  int64 // of first checks, ms at most
}

// deal makes one transaction and decides about it or not.
func (m *many) deal(i int) {
	body := "m" + strconv.Itoa(i)
	var delay []string
	switch m.rng.IntN(8) {
	case 0:
		delay = []string{message.PropertyDelay, "2"}
	case 1:
		delay = []string{message.PropertyTimerDelayMs, strconv.Itoa(1 + m.rng.IntN(20_000))}
	}
	h := m.p.prepare("T", body, delay...)
	m.born[body] = m.broker.NowMillis()
	m.fates[body] = undecided
	switch m.rng.IntN(4) {
	case 0, 1:
		m.fates[body] = committed
		for range 1 + m.rng.IntN(2) {
			m.p.commit(h)
		}
	case 2:
		m.fates[body] = rolledBack
		m.p.rollback(h)
		// A kill may take it, and have the producer asked at once.
		m.asked[body] = true
	}
}

// answer answers all questions, and looks whether they came on time.
func (m *many) answer(t *testing.T) {
	t.Helper()
	for _, q := range m.p.questions() {
		if m.fates[q.body] == undecided && m.rng.IntN(3) > 0 {
			m.fates[q.body] = 1 + fate(m.rng.IntN(2))
		}
		// A kill may take the number of a question that was just put.
		if !m.asked[q.body] {
			m.asked[q.body] = true
			m.late = max(m.late, q.at-m.born[q.body]-m.config.TransactionTimeOut)
		}
		how := map[fate]int32{committed: message.SysFlagCommit, rolledBack: message.SysFlagRollback}[m.fates[q.body]]
		if how == 0 {
			continue
		}
		h := half{q.header.TranStateTableOffset, q.header.CommitLogOffset, q.body}
		if reply := m.p.end(h, how, true); reply.Code != 0 {
			t.Fatalf("answer about %s: %d, %s", q.body, reply.Code, reply.Remark)
		}
	}
}

// conclude compares the topic with what was decided.
func (m *many) conclude(t *testing.T) {
	t.Helper()
	times := make(map[string]int)
	for _, body := range m.bodies("T") {
		times[body]++
	}
	count := make(map[fate]int)
	for body, f := range m.fates {
		count[f]++
		if want := map[fate]int{committed: 1}[f]; times[body] != want {
			t.Errorf("%s is in the topic %d times, want %d", body, times[body], want)
		}
	}
	t.Logf("%d committed, %d rolled back, %d open, first checks at most %d ms late", count[committed], count[rolledBack], count[undecided], m.late)
	if m.late < 0 || m.late > 1000 {
		t.Errorf("a first check was %d ms late", m.late)
	}
	// What a kill took before it was written down was decided, and is asked for again.
	if open := int(m.broker.OpenTransactions()); open > count[undecided] {
		t.Errorf("%d transactions are open, want at most %d", open, count[undecided])
	}
}
