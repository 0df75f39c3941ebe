package crash

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/wire"
)

// worker is one client of a round. What it records, it was told by the server; it ends when
// the connection does.
type worker struct {
	conn *wire.Conn
	rng  *rand.Rand
	name string // part of every body's id
	step func(w *worker) error
	n    int

	acked   []sent
	codes   int // sends that were refused
	commits []commit
	tried   [queues]int64 // the highest offset that a commit asked for
	next    [queues]int64 // where the next pull begins
	reads   map[place]string
	timers  []*timer
	waiting []*timer // that may be cancelled
	deals   *dealings
}

// commit is an offset that the server acknowledged.
type commit struct {
	queue  int
	offset int64
}

func (w *worker) run() {
	defer w.conn.Close()
	for {
		if err := w.step(w); err != nil {
			return
		}
		w.n++
	}
}

// workers connects the clients of the next round; the consumer is the first.
func (h *history) workers(t *testing.T) []*worker {
	t.Helper()
	steps := []func(*worker) error{(*worker).consume, (*worker).single, (*worker).single, (*worker).batch, (*worker).delayed}
	if h.target.Kind == peer.Ours {
		steps = append(steps, (*worker).timed, (*worker).deal) // the real broker promises less
	}
	var list []*worker
	for i, step := range steps {
		conn, err := wire.Open(h.target.BrokerAddr)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, &worker{
			conn: conn, rng: rand.New(rand.NewPCG(h.rng.Uint64(), 0)), name: fmt.Sprintf("%d.%d", h.rounds, i), step: step,
			next: h.resume, reads: make(map[place]string), waiting: h.waiting(), deals: h.deals,
		})
	}
	list[0].conn.Heartbeat(t, wire.Member{ClientID: "127.0.0.1@crash", Group: group, Subscriptions: map[string]string{topic: "*"}})
	if h.target.Kind == peer.Ours {
		list[len(list)-1].conn.HeartbeatProducer(t, "127.0.0.1@crash-producer", producers)
	}
	return list
}

// delayedID begins the ids of delayed messages.
const delayedID = "d"

// body is an id and a filling of random length.
func (w *worker) body(id string) []byte {
	return append([]byte(id+"|"), bytes.Repeat([]byte{'x'}, w.rng.IntN(2000))...)
}

// idOf takes the id back out of a body.
func idOf(body []byte) string {
	id, _, _ := strings.Cut(string(body), "|")
	return id
}

func (w *worker) call(code int, header map[string]string, body []byte) (*wire.Frame, error) {
	ctx, cancel := context.WithTimeout(context.Background(), wire.Timeout)
	defer cancel()
	return w.conn.Do(ctx, code, header, body)
}

// send stores messages with the given ids and notes them when they are acknowledged.
func (w *worker) send(code, level int, s wire.Send, header map[string]string, ids ...string) error {
	answer, err := w.call(code, header, s.Body)
	if err != nil {
		return err
	}
	if answer.Code != wire.Success {
		w.codes++
		return nil
	}
	first, err := strconv.ParseInt(answer.Ext["queueOffset"], 10, 64)
	if err != nil {
		return err
	}
	for i, id := range ids {
		w.acked = append(w.acked, sent{place{s.QueueID, first + int64(i)}, id, level})
	}
	return nil
}

func (w *worker) single() error {
	id := fmt.Sprintf("%s-%d", w.name, w.n)
	s := wire.Send{Topic: topic, QueueID: w.rng.IntN(queues), Body: w.body(id), Properties: wire.Properties("KEYS", id)}
	return w.send(wire.SendMessageV2, 0, s, s.Header(), id)
}

func (w *worker) batch() error {
	var ids []string
	var items []wire.BatchItem
	for i := range 1 + w.rng.IntN(8) {
		id := fmt.Sprintf("%s-%d.%d", w.name, w.n, i)
		ids = append(ids, id)
		items = append(items, wire.BatchItem{Body: w.body(id), Properties: wire.Properties("KEYS", id)})
	}
	s := wire.Send{Topic: topic, QueueID: w.rng.IntN(queues), Body: wire.Batch(items...)}
	header := s.Header()
	header["m"] = "true"
	return w.send(wire.SendBatchMessage, 0, s, header, ids...)
}

func (w *worker) delayed() error {
	id, level := fmt.Sprintf(delayedID+"%s-%d", w.name, w.n), 1+w.rng.IntN(3)
	s := wire.Send{
		Topic: topic, QueueID: w.rng.IntN(queues), Body: w.body(id),
		Properties: wire.Properties("KEYS", id, "DELAY", strconv.Itoa(level)),
	}
	return w.send(wire.SendMessageV2, level, s, s.Header(), id)
}

// consume pulls from one queue and commits what it got.
func (w *worker) consume() error {
	q := w.n % queues
	ctx, cancel := context.WithTimeout(context.Background(), wire.Timeout)
	defer cancel()
	got, err := w.conn.Pull(ctx, wire.Pull{Group: group, Topic: topic, QueueID: q, Offset: w.next[q]})
	if err != nil {
		return err
	}
	for _, m := range got.Messages {
		w.reads[place{q, m.QueueOffset}] = string(m.Body)
	}
	if got.Code != wire.Success {
		return nil
	}
	w.next[q] = got.NextBeginOffset
	w.tried[q] = got.NextBeginOffset
	answer, err := w.call(wire.UpdateConsumerOffset, map[string]string{
		"consumerGroup": group, "topic": topic, "queueId": strconv.Itoa(q), "commitOffset": strconv.FormatInt(w.next[q], 10),
	}, nil)
	if err != nil {
		return err
	}
	if answer.Code == wire.Success {
		w.commits = append(w.commits, commit{q, w.next[q]})
	}
	return nil
}
