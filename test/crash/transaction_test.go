package crash

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/wire"
)

const (
	// transactionID begins the ids of transactional messages.
	transactionID = "x"
	producers     = "crash-producers"
)

// transactionConf has producers asked soon and never given up.
var transactionConf = map[string]string{
	"transactionTimeOut": "1000", "transactionCheckInterval": "1000", "transactionCheckMax": "60000",
}

// decision is what a producer has done about a transaction; it never takes it back.
type decision int

const (
	unknown decision = iota
	commits
	rollsBack
)

// request is how END_TRANSACTION says it.
func (d decision) request() int {
	return map[decision]int{commits: wire.CommitTransaction, rollsBack: wire.RollbackTransaction}[d]
}

// deal is a transaction of the producer's.
type deal struct {
	half      wire.Half
	decision  decision
	prepared  bool // acknowledged
	committed bool // acknowledged
	ended     bool // either end is acknowledged
	asked     bool // it decided when it was asked
	round     int  // in which it was made
	repeated  bool // committed again, after a kill
}

// dealings are the transactions of all rounds, by UNIQ_KEY. One worker at a time uses them.
type dealings struct {
	byKey map[string]*deal
	done  []*deal  // with an acknowledged commit
	wrong []string // answers that should not be
	round int
	final bool // every question gets an answer
}

// deal answers what was asked and makes a transaction: its end comes at once, or when it is asked for.
func (w *worker) deal() error {
	if err := w.answerQuestions(); err != nil {
		return err
	}
	if w.n < earlier {
		if err := w.repeatCommit(); err != nil {
			return err
		}
	}
	id := fmt.Sprintf(transactionID+"%s-%d", w.name, w.n)
	d := &deal{round: w.deals.round, half: wire.Half{Group: producers, UniqKey: uniqueKey(id)}, decision: decision(w.rng.IntN(3))}
	w.deals.byKey[d.half.UniqKey] = d
	prepared, err := w.prepareDeal(d, id)
	if err != nil || !prepared || d.decision == unknown {
		return err
	}
	if err := w.endDeal(d, d.decision, false); err != nil {
		return err
	}
	if w.rng.IntN(4) > 0 {
		return nil
	}
	// Twice the same, or a commit of what was rolled back: neither stores anything.
	return w.endDeal(d, commits, false)
}

// prepareDeal stores the half message, one in eight with a delay that begins with the commit.
func (w *worker) prepareDeal(d *deal, id string) (ok bool, err error) {
	properties := []string{"KEYS", id, "UNIQ_KEY", d.half.UniqKey, "TRAN_MSG", "true", "PGROUP", producers}
	if w.rng.IntN(8) == 0 {
		properties = append(properties, "DELAY", "1")
	}
	const prepared = 4
	s := wire.Send{Topic: topic, QueueID: w.rng.IntN(queues), Body: w.body(id), SysFlag: prepared, Properties: wire.Properties(properties...)}
	answer, err := w.call(wire.SendMessageV2, s.Header(), s.Body)
	if err != nil {
		return false, err
	}
	if answer.Code != wire.Success {
		w.codes++
		return false, nil
	}
	d.prepared = true
	if d.half.QueueOffset, err = strconv.ParseInt(answer.Ext["queueOffset"], 10, 64); err != nil {
		return false, err
	}
	// An offset message id ends with the log offset in hexadecimal.
	msgID := answer.Ext["msgId"]
	d.half.CommitLogOffset, err = strconv.ParseInt(msgID[max(0, len(msgID)-16):], 16, 64)
	return err == nil, err
}

// endDeal ends a transaction and notes what was acknowledged.
func (w *worker) endDeal(d *deal, how decision, checked bool) error {
	h := d.half
	answer, err := w.call(wire.EndTransaction, map[string]string{
		"producerGroup": h.Group, "tranStateTableOffset": strconv.FormatInt(h.QueueOffset, 10),
		"commitLogOffset": strconv.FormatInt(h.CommitLogOffset, 10), "commitOrRollback": strconv.Itoa(how.request()),
		"fromTransactionCheck": strconv.FormatBool(checked), "msgId": h.UniqKey, "transactionId": h.UniqKey,
	}, nil)
	switch {
	case err != nil:
		return err
	case answer.Code != wire.Success:
		w.deals.wrong = append(w.deals.wrong, fmt.Sprintf("%s: %v", h.UniqKey, answer))
	case d.decision == commits:
		if !d.committed {
			w.deals.done = append(w.deals.done, d)
		}
		d.committed, d.ended = true, true
	default:
		d.ended = true
	}
	return nil
}

// repeatCommit commits again what was committed before the last kill.
func (w *worker) repeatCommit() error {
	if len(w.deals.done) == 0 {
		return nil
	}
	d := w.deals.done[w.rng.IntN(len(w.deals.done))]
	d.repeated = d.repeated || d.round != w.deals.round
	return w.endDeal(d, commits, false)
}

// answerQuestions answers what the server has asked by now. A producer that has not decided yet
// often says nothing.
func (w *worker) answerQuestions() error {
	for {
		select {
		case f := <-w.conn.Requests():
			if f.Code != wire.CheckTransactionState {
				continue
			}
			if err := w.answerQuestion(f); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

func (w *worker) answerQuestion(f *wire.Frame) error {
	d := w.deals.byKey[f.Ext["msgId"]]
	if d == nil {
		w.deals.wrong = append(w.deals.wrong, fmt.Sprintf("asked about %v", f))
		return nil
	}
	var err error
	if d.half.QueueOffset, err = strconv.ParseInt(f.Ext["tranStateTableOffset"], 10, 64); err != nil {
		return err
	}
	if d.half.CommitLogOffset, err = strconv.ParseInt(f.Ext["commitLogOffset"], 10, 64); err != nil {
		return err
	}
	if d.decision == unknown {
		if !w.deals.final && w.rng.IntN(2) == 0 {
			return nil
		}
		d.decision, d.asked = commits+decision(w.rng.IntN(2)), true
	}
	return w.endDeal(d, d.decision, true)
}

// settleTransactions answers until no transaction is open.
func (h *history) settleTransactions(t *testing.T) {
	t.Helper()
	h.deals.final = true
	w := &worker{conn: wire.Dial(t, h.target.BrokerAddr), rng: rand.New(rand.NewPCG(h.rng.Uint64(), 0)), deals: h.deals}
	w.conn.HeartbeatProducer(t, "127.0.0.1@crash-producer", producers)
	ctx, cancel := context.WithTimeout(t.Context(), 3*wire.Timeout)
	defer cancel()
	for open := h.openTransactions(t); open > 0; open = h.openTransactions(t) {
		if err := w.answerQuestions(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-ctx.Done():
			t.Errorf("%d transactions are open although their producer answers every question", open)
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// openTransactions reads our server's wheelmq_transaction_open.
func (h *history) openTransactions(t *testing.T) int {
	t.Helper()
	reply, err := http.Get("http://" + h.target.HTTPAddr + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\nwheelmq_transaction_open{")
	line, _, _ := strings.Cut(rest, "\n")
	_, line, _ = strings.Cut(line, "} ")
	n, err := strconv.ParseFloat(line, 64)
	if err != nil {
		t.Fatalf("wheelmq_transaction_open: %v", err)
	}
	return int(n)
}

// dealCounts are how many transactions came to what.
type dealCounts struct{ prepared, committed, rolledBack, asked, repeated int }

func (c dealCounts) String() string {
	return fmt.Sprintf("%d transactions (%d commits and %d rollbacks acknowledged, %d decided when asked, %d commits repeated after a kill)",
		c.prepared, c.committed, c.rolledBack, c.asked, c.repeated)
}

func (h *history) countDeals() (c dealCounts) {
	for _, d := range h.deals.byKey {
		switch {
		case d.committed:
			c.committed++
		case d.ended:
			c.rolledBack++
		}
		if d.prepared {
			c.prepared++
		}
		if d.asked {
			c.asked++
		}
		if d.repeated {
			c.repeated++
		}
	}
	return c
}

// verifyTransactions checks that what was committed is there once, and nothing else: once no
// transaction is open, every decision has come to its end.
func (h *history) verifyTransactions(t *testing.T, l left) {
	t.Helper()
	for i, text := range h.deals.wrong {
		if i < 3 {
			t.Errorf("a wrong answer: %s", text)
		}
	}
	bad := 0
	for key, d := range h.deals.byKey {
		n, least, most := l.byID[strings.TrimPrefix(key, "u")], 0, 0
		if d.decision == commits {
			most = 1
			if d.prepared || d.committed {
				least = 1
			}
		}
		if n >= least && n <= most {
			continue
		}
		if bad++; bad <= 3 {
			t.Errorf("%s is there %d times, want %d to %d: %+v", key, n, least, most, *d)
		}
	}
	if bad > 0 || len(h.deals.wrong) > 0 {
		t.Errorf("%v: %d are not there as they should be, %d wrong answers", h.countDeals(), bad, len(h.deals.wrong))
	}
}
