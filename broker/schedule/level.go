package schedule

import (
	"math"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/broker/redeliver"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
)

const (
	// batch is how many messages one level delivers before the others get their turn.
	batch = 256
	// scanBatches is how many batches of new units one turn looks through.
	scanBatches = 256
	never       = clock.Never
)

// level is the state of one delay level. Only the driver's goroutine changes it; backlog and
// flights under Service.mu, so that others may look.
type level struct {
	number   int64
	queueID  int32
	lateness prometheus.Observer
	backlog  backlog
	flights  []*flight // oldest first
	inFlight int       // messages in flights
	counted  int64     // units below are counted by topic; under Service.mu

	refusals int   // in a row
	retryAt  int64 // ms, no delivery before
}

// turn delivers what is due on a level, at most one batch, and returns when to look again.
func (w *worker) turn(l *level, now int64) (next int64) {
	q, next := w.look(l, now)
	if q == nil {
		return next
	}
	if err := w.deliverDue(l, q, now); err != nil {
		return w.refused(l, now, err)
	}
	if l.backlog.scanned < q.Max() {
		return now
	}
	if w.room(l) == 0 {
		return never // until a batch on its way settles
	}
	return l.backlog.due()
}

// look brings a level up to date: what is stored for good, what has arrived. Without a queue to
// deliver from it returns nil and when to look again.
func (w *worker) look(l *level, now int64) (q *store.ConsumeQueue, next int64) {
	q = w.s.opts.Log.Queue(topicSchedule, l.queueID)
	if q == nil {
		return nil, never
	}
	if err := w.settle(l, q); err != nil {
		return nil, w.refused(l, now, err)
	}
	if now < l.retryAt {
		return nil, l.retryAt
	}
	w.fit(l, q)
	if err := w.scan(l, q, scanBatches); err != nil {
		return nil, w.refused(l, now, err)
	}
	if w.stall != "" {
		return nil, w.withhold(l, q, now)
	}
	return q, never
}

// room is how many messages may be appended beside those on their way.
func (w *worker) room(l *level) int {
	switch {
	case l.stalled():
		return 0
	case w.s.opts.Window == 0 && len(l.flights) == 0:
		return batch
	}
	return min(batch, max(0, w.s.opts.Window-l.inFlight))
}

// deliverDue delivers at most a batch of the run that is due first.
func (w *worker) deliverDue(l *level, q *store.ConsumeQueue, now int64) error {
	r := l.backlog.earliest()
	room := int64(w.room(l))
	if r == nil || r.due > now || room == 0 {
		return nil
	}
	w.relyOn(l, r)
	n, err := q.Units(r.next, w.units[:min(room, r.end-r.next)])
	if err != nil {
		return err
	}
	f := w.begin(l, r)
	sent := 0
	for ; sent < n; sent++ {
		due := w.s.due(l, &w.units[sent])
		if due > now {
			break
		}
		if err = w.deliver(l, &w.units[sent], f); err != nil {
			break
		}
		f.carry(w.topic)
		l.lateness.Observe(float64(now-due) / 1000)
	}
	w.launch(l, f, sent)
	r.due = w.head(l, q, r.next, r.end)
	if settled := w.settle(l, q); settled != nil {
		return settled
	}
	if sent > 0 && l.refusals > 0 {
		l.refusals = 0
		w.s.unblock(l)
	}
	return err
}

// relyOn counts what the real broker would not do for a batch of a run.
func (w *worker) relyOn(l *level, r *run) {
	if w.s.opts.Differences == nil {
		return
	}
	w.s.opts.Differences.Use(difference.DelayToTheMillisecond)
	if r.done > l.backlog.lowest() || l.number > int64(len(w.s.opts.Levels.Get())) {
		w.s.opts.Differences.Use(difference.DelayOwnDueTime)
	}
}

// leavingPauseMs is how long a level waits for a topic that is being deleted: the deletion is being noted.
const leavingPauseMs = 5

// refused makes the level wait, longer each time, and tells why. Other levels go on.
func (w *worker) refused(l *level, now int64, err error) int64 {
	if appender.Leaves(err) {
		l.retryAt = now + leavingPauseMs
		return l.retryAt
	}
	l.refusals++
	l.retryAt = now + redeliver.Backoff(l.refusals)
	if l.refusals > w.s.opts.ResendsToBlocked {
		w.s.note(l, err)
	}
	return l.retryAt
}

// scan takes in new units of the queue, at most so many batches.
func (w *worker) scan(l *level, q *store.ConsumeQueue, batches int) error {
	for ; batches > 0 && l.backlog.scanned < q.Max(); batches-- {
		n, err := q.Units(l.backlog.scanned, w.units[:])
		if err != nil || n == 0 {
			return err // none: the queue's beginning was deleted meanwhile
		}
		for i := range w.units[:n] {
			w.dues[i] = w.s.due(l, &w.units[i])
		}
		w.s.mu.Lock()
		for _, due := range w.dues[:n] {
			l.backlog.add(due)
		}
		l.backlog.sweep()
		w.s.mu.Unlock()
	}
	return nil
}

// fit corrects a backlog that its queue does not have: data was deleted under it.
func (w *worker) fit(l *level, q *store.ConsumeQueue) {
	lowest, highest := q.Min(), q.Max()
	if l.backlog.lowest() >= lowest && l.backlog.scanned <= highest {
		return
	}
	w.s.mu.Lock()
	dropped := l.backlog.clip(lowest, highest)
	w.s.progress++
	w.s.topics.anew = true
	w.s.mu.Unlock()
	w.heads(l, q)
	w.s.opts.Wheel.WithFields(logrus.Fields{"level": l.number, "min": lowest, "max": highest, "lost": dropped}).
		Warn("a delay level was outside of its queue and is corrected")
}

// heads looks up when each run has something to do.
func (w *worker) heads(l *level, q *store.ConsumeQueue) {
	for _, r := range l.backlog.runs {
		r.due = w.head(l, q, r.next, r.end)
	}
}

// head is the due instant of a unit below end, never when there is none.
func (w *worker) head(l *level, q *store.ConsumeQueue, offset, end int64) int64 {
	if offset == end {
		return never
	}
	u, ok := q.Unit(offset)
	if !ok {
		return never
	}
	return w.s.due(l, &u)
}

// due is the instant of a unit, ms. A tagsCode that fits 32 bits is a tag's hash, as a queue
// has that was rebuilt without the level table; the record then knows better. What cannot be
// read is due at once, to be noted as lost.
func (s *Service) due(l *level, u *store.Unit) int64 {
	if u.TagsCode > math.MaxInt32 {
		return u.TagsCode
	}
	slice, err := s.opts.Log.Record(u.CommitLogOffset, u.Size)
	if err != nil {
		return 0
	}
	defer slice.Release()
	v, err := message.Parse(slice.Bytes)
	if err != nil {
		return 0
	}
	return s.opts.Levels.Get().dueOf(&v, l.number)
}
