package pop

import (
	"sync/atomic"

	"github.com/wheelmq/wheelmq/broker/redeliver"
	"github.com/wheelmq/wheelmq/clock"
)

// batchSize is how many messages are brought back at a time. Under SYNC_FLUSH a batch costs a sync of the
// log: when a consumer dies with thousands in flight, few of them wait for a second one.
const batchSize = 2048

// driver is what belongs to the goroutine of a Service.
type driver struct {
	redeliver.Driver
	s     *Service
	batch [batchSize]revival
	n     int          // of the batch
	left  atomic.Int32 // of the batch, whose copies are not known to be stored; the maker counts as one
	copy  copier
	swept int   // tasks that were left by the last sweep
	late  int64 // the latest instant of message time that was looked at, although the clock may be behind
	// from is the log offset below which no copy is missing from the journal while a batch is on its
	// way, or what it is to say could not be written; -1: none is, and it can.
	from atomic.Int64
	owed atomic.Int64 // copies that the journal does not tell of yet, since it has no room
}

func (d *driver) init(s *Service) {
	d.s, d.Driver = s, redeliver.NewDriver(s.stop)
	d.from.Store(-1)
	d.copy.init(s)
	for i := range d.batch {
		d.batch[i].d = d
	}
}

func (d *driver) run() {
	defer d.s.wg.Done()
	timer := d.s.opts.Store.NewTimer()
	defer timer.Disarm()
	for {
		// Nothing that is handed out from here on is missed: it is due before never.
		d.s.armedAt.Store(never)
		next, landed := d.pass(d.s.opts.Store.NowMillis())
		if landed {
			d.s.armedAt.Store(next)
			if next <= d.s.opts.Store.NowMillis() {
				if d.Stopped() {
					return
				}
				continue
			}
			d.Answer(next)
			clock.Rearm(timer, next)
		} else {
			timer.Disarm() // the last copy wakes
		}
		if d.Sleep(timer, nil) {
			return
		}
	}
}

// pass brings back what is visible now, and returns when there is something to do again. Not landed:
// copies are on their way, and nothing else is brought back until they are stored.
func (d *driver) pass(now int64) (next int64, landed bool) {
	if d.left.Load() > 0 {
		return never, false
	}
	d.s.foreign.takeOver()
	d.late = max(d.late, now)
	d.tidy()
	d.n = 0
	for d.n < batchSize {
		t, due, ok := d.s.agenda.next(now)
		if !ok {
			next = due
			break
		}
		next = now
		d.take(&t, now)
	}
	if d.n == 0 {
		return next, true
	}
	if d.from.Load() < 0 {
		d.from.Store(d.s.opts.Log.MaxCommitLogOffset())
	}
	d.left.Store(1)
	for i := range d.batch[:d.n] {
		d.batch[i].begin()
	}
	return now, d.land()
}

// land notes that the making of the batch, or a copy of it, is done, and tells whether all is.
func (d *driver) land() bool {
	if d.left.Add(-1) > 0 {
		return false
	}
	if d.owed.Load() == 0 {
		d.from.Store(-1)
	}
	return true
}

// settled notes that a message is forgotten, or popped again: nobody waits for what the journal could not
// say of its copy.
func (d *driver) settled(e *entry) {
	if e.state&copied != 0 {
		d.owed.Add(-1)
	}
}

// take puts into the batch what a task is about.
func (d *driver) take(t *task, now int64) {
	w := d.s.at(t.window)
	if w == nil {
		return
	}
	if t.n == 0 {
		d.takeBlock(w, now)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	end := t.first + int64(t.n)
	w.held.each(t.first, end, func(offset int64, e *entry) bool {
		if e.due > now || e.state&reviving != 0 {
			return true
		}
		if d.n == batchSize {
			d.s.agenda.push(task{due: t.due, window: t.window, first: offset, n: uint32(end - offset)})
			return false
		}
		r := &d.batch[d.n]
		r.w, r.offset, r.popTime, r.due, r.state, r.copyAt = w, offset, e.popTime, e.due, e.state, 0
		e.state |= reviving
		d.n++
		return true
	})
}

// takeBlock tells that a queue may be popped from in order again, or looks at it when it may.
func (d *driver) takeBlock(w *Window, now int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.block == nil {
		return
	}
	if until := w.block.until(); until > now {
		d.s.agenda.push(task{due: until, window: w.id})
		return
	}
	if !w.block.told {
		w.block.told = true
		d.s.visible(w.key)
	}
}

// tidy takes tasks out of the agenda that nothing is to be done for, when they are most of it.
func (d *driver) tidy() {
	n := d.s.agenda.len()
	if n < sweepFrom || n < 2*d.swept || int64(n) < 2*d.s.inFlight.Load() {
		return
	}
	d.s.agenda.sweep(func(t task) bool { return d.wanted(&t) })
	d.swept = d.s.agenda.len()
}

// wanted tells whether a task is the one that a message or a block waits for: the one at its instant,
// or, when that is past, any.
func (d *driver) wanted(t *task) (wanted bool) {
	waits := func(due int64) bool { return due == t.due || due <= min(d.late, t.due) }
	w := d.s.at(t.window)
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if t.n == 0 {
		return w.block != nil && waits(w.block.until())
	}
	w.held.each(t.first, t.first+int64(t.n), func(_ int64, e *entry) bool {
		wanted = waits(e.due)
		return !wanted
	})
	return wanted
}
