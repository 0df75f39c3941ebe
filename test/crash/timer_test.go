package crash

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/wire"
)

const (
	// timerID and cancelID begin the ids of timers, and of the messages that cancel them.
	timerID  = "t"
	cancelID = "c"
	shortest = 50 * time.Millisecond
	// inTime is how long before its timer's second a cancel must be acknowledged to be sure to
	// take effect: a loaded machine takes it in late.
	inTime = 1500 * time.Millisecond
)

// timer is a message with an any-time delay. A worker of a later round may cancel it.
type timer struct {
	id        string
	delay     time.Duration // 0: at is its instant
	at        int64         // ms since 1970, not to be delivered before
	round     string        // its worker
	acked     bool
	cancel    fate
	afterKill bool // cancelled after the server was killed
}

// fate is what a client may know of a timer.
type fate int

const (
	never   fate = iota // cancelled
	perhaps             // a cancel was late or has no answer
	surely              // cancelled
)

// secondBegins is when the second that a timer can be cancelled in begins, ms since 1970.
func (m *timer) secondBegins() int64 { return (m.at - 1) / 1000 * 1000 }

// earlier is how many steps of a round begin it with cancels of timers of earlier rounds.
const earlier = 10

// timed sends a timer, or one and its cancel in either order, or cancels one that waits already,
// perhaps since before the last kill.
func (w *worker) timed() error {
	m := w.timer()
	switch choice := w.rng.IntN(8); {
	case choice < 2 || w.n < earlier:
		if old := w.pick(); old != nil {
			return w.cancelTimer(old)
		}
	case choice == 2 && m.delay == 0:
		if err := w.sendTimer(m); err != nil {
			return err
		}
		return w.cancelTimer(m)
	case choice == 3 && m.delay == 0:
		if err := w.cancelTimer(m); err != nil {
			return err
		}
		return w.sendTimer(m)
	}
	if err := w.sendTimer(m); err != nil {
		return err
	}
	if m.delay == 0 && m.acked {
		w.waiting = append(w.waiting, m)
	}
	return nil
}

func (w *worker) timer() *timer {
	delay := shortest + time.Duration(w.rng.Int64N(int64(longest-shortest)))
	m := &timer{id: fmt.Sprintf(timerID+"%s-%d", w.name, w.n), round: w.name, at: time.Now().Add(delay).UnixMilli()}
	if w.rng.IntN(3) == 0 {
		m.delay = delay.Truncate(time.Millisecond)
	}
	return m
}

// pick takes one of the timers that wait, nil when there is none.
func (w *worker) pick() *timer {
	for len(w.waiting) > 0 {
		i := w.rng.IntN(len(w.waiting))
		m := w.waiting[i]
		w.waiting = slices.Delete(w.waiting, i, i+1)
		if m.at > time.Now().UnixMilli() {
			return m
		}
	}
	return nil
}

func uniqueKey(id string) string { return "u" + id }

func (w *worker) sendTimer(m *timer) error {
	property, value := "TIMER_DELIVER_MS", m.at
	if m.delay > 0 {
		property, value = "TIMER_DELAY_MS", m.delay.Milliseconds()
		m.at = time.Now().UnixMilli() + value
	}
	s := wire.Send{
		Topic: topic, QueueID: w.rng.IntN(queues), Body: w.body(m.id),
		Properties: wire.Properties("KEYS", m.id, "UNIQ_KEY", uniqueKey(m.id), property, strconv.FormatInt(value, 10)),
	}
	w.timers = append(w.timers, m)
	answer, err := w.call(wire.SendMessageV2, s.Header(), s.Body)
	if err != nil {
		return err
	}
	if answer.Code != wire.Success {
		w.codes++
		return nil
	}
	m.acked = true
	if m.cancel == surely && !inTimeFor(m) {
		m.cancel = perhaps // the message came late behind its cancel
	}
	return nil
}

// cancelTimer sends the cancel of a timer and notes what became of it.
func (w *worker) cancelTimer(m *timer) error {
	key := uniqueKey(m.id)
	if w.rng.IntN(2) == 0 {
		key = topic + "+" + key
	}
	id := cancelID + m.id
	s := wire.Send{
		Topic: topic, QueueID: w.rng.IntN(queues), Body: w.body(id),
		Properties: wire.Properties("KEYS", id, "UNIQ_KEY", uniqueKey(id), "TIMER_DELIVER_MS", strconv.FormatInt(m.at, 10), "TIMER_DEL_UNIQKEY", key),
	}
	m.cancel, m.afterKill = perhaps, m.round != w.name
	answer, err := w.call(wire.SendMessageV2, s.Header(), s.Body)
	switch {
	case err != nil:
		return err
	case answer.Code != wire.Success:
		m.cancel = never // its instant is past
	case inTimeFor(m):
		m.cancel = surely
	}
	return nil
}

// inTimeFor tells whether what is acknowledged now is so in time for a timer's second.
func inTimeFor(m *timer) bool { return time.Now().Add(inTime).UnixMilli() <= m.secondBegins() }

// awaitCheckpoint waits until the timers' checkpoint is another one, so that starts go on from it.
func (h *history) awaitCheckpoint(t *testing.T) {
	t.Helper()
	first := h.checkpoint(t)
	for deadline := time.Now().Add(wire.Timeout); bytes.Equal(first, h.checkpoint(t)); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Errorf("round %d: the timers' checkpoint was not saved in %v", h.rounds, wire.Timeout)
			return
		}
	}
}

func (h *history) checkpoint(t *testing.T) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(h.target.StoreDir, "timer", "checkpoint"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return b
}

// waiting are the timers of earlier rounds that can be cancelled.
func (h *history) waiting() (list []*timer) {
	now := time.Now().UnixMilli()
	for _, m := range h.timers {
		if m.acked && m.delay == 0 && m.cancel == never && m.at > now {
			list = append(list, m)
		}
	}
	return list
}

// timerCounts are how many timers were acknowledged, and what became of these.
type timerCounts struct{ acked, kept, cancelled, afterKill int }

func (c timerCounts) String() string {
	return fmt.Sprintf("%d timers (%d not cancelled, %d surely, of these %d after a kill)", c.acked, c.kept, c.cancelled, c.afterKill)
}

func (h *history) countTimers() (c timerCounts) {
	for _, m := range h.timers {
		if !m.acked {
			continue
		}
		c.acked++
		switch m.cancel {
		case never:
			c.kept++
		case surely:
			if c.cancelled++; m.afterKill {
				c.afterKill++
			}
		}
	}
	return c
}

// verifyTimers checks that no timer came early or although it was cancelled, and no cancel at all.
func (h *history) verifyTimers(t *testing.T, l left) {
	t.Helper()
	wrong := func(n *int, what string, m *timer) {
		if *n++; *n <= 3 {
			t.Errorf("a timer %s: %+v, stored at %d", what, *m, l.stored[m.id])
		}
	}
	var early, cancelled int
	for _, m := range h.timers {
		stored, there := l.stored[m.id]
		if there && stored < m.at {
			wrong(&early, "came early", m)
		}
		if there && m.acked && m.cancel == surely {
			wrong(&cancelled, "was cancelled and came", m)
		}
	}
	if early+cancelled > 0 {
		t.Errorf("of %v %d came early, %d although they were cancelled", h.countTimers(), early, cancelled)
	}
	for id := range l.byID {
		if strings.HasPrefix(id, cancelID) {
			t.Errorf("the cancel %q was delivered", id)
		}
	}
}
