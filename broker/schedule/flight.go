package schedule

import (
	"errors"

	"github.com/wheelmq/wheelmq/broker/redeliver"
	"github.com/wheelmq/wheelmq/store"
)

var errNotDurable = errors.New("the copies of a batch are not durable")

// flight is a batch on its way: its copies are appended and not yet known to be stored for good.
type flight struct {
	redeliver.Flight
	run      *run
	from, to int64 // units
	start    int64 // log offset that none of its copies lies below
	shares   []share
}

// begin makes a flight known before its first copy is appended, so that no save takes the
// place of a copy for one that needs no look.
func (w *worker) begin(l *level, r *run) *flight {
	var f *flight
	if n := len(w.idle); n > 0 {
		f, w.idle = w.idle[n-1], w.idle[:n-1]
	} else {
		f = new(flight)
		f.Wake = w.s.wake
	}
	f.run, f.from, f.to, f.shares = r, r.next, r.next, f.shares[:0]
	f.Begin() // until launch
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	f.start = w.s.opts.Log.MaxCommitLogOffset()
	l.flights = append(l.flights, f)
	return f
}

// launch says how many copies a flight has.
func (w *worker) launch(l *level, f *flight, n int) {
	w.s.mu.Lock()
	f.to += int64(n)
	f.run.next = f.to
	w.s.mu.Unlock()
	l.inFlight += n
	f.Drop()
}

// settle advances the level's progress past the flights that are stored for good, in order.
// When one failed the whole level's are taken back, once all are told: a put that fails after
// it was accepted means a store that accepts nothing more until it is opened again, and then
// the copies that made it are recognised.
func (w *worker) settle(l *level, q *store.ConsumeQueue) error {
	n := 0
	for n < len(l.flights) && l.flights[n].Landed() && !l.flights[n].Failed() {
		n++
	}
	if n > 0 {
		w.s.mu.Lock()
		for _, f := range l.flights[:n] {
			f.run.done = max(f.run.done, min(f.to, f.run.end))
			w.s.topics.landed(f, l.counted)
			w.s.progress += f.to - f.from
			w.s.delivered.Add(f.to - f.from)
		}
		w.drop(l, n)
		l.backlog.sweep()
		w.s.mu.Unlock()
	}
	if l.stalled() {
		return w.takeBack(l, q)
	}
	return nil
}

// stalled tells that the oldest flight failed.
func (l *level) stalled() bool { return len(l.flights) > 0 && l.flights[0].Failed() }

// takeBack makes everything on its way pending again, once nobody is to be heard of any more.
func (w *worker) takeBack(l *level, q *store.ConsumeQueue) error {
	for _, f := range l.flights {
		if !f.Landed() {
			return nil
		}
	}
	w.s.mu.Lock()
	for _, f := range l.flights {
		f.run.next = f.run.done
	}
	w.drop(l, len(l.flights))
	w.s.mu.Unlock()
	w.heads(l, q)
	return errNotDurable
}

// drop forgets the first n flights. The caller holds Service.mu.
func (w *worker) drop(l *level, n int) {
	for _, f := range l.flights[:n] {
		l.inFlight -= int(f.to - f.from)
		f.run = nil
		w.idle = append(w.idle, f)
	}
	l.flights = append(l.flights[:0], l.flights[n:]...)
}
