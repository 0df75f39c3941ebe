package transaction

import (
	"sync/atomic"

	"github.com/wheelmq/wheelmq/broker/redeliver"
	"github.com/wheelmq/wheelmq/clock"
)

// Times of the wire's clock, ms.
const (
	saveDelayMs = 500 // from a change of the progress to its save
	pauseMs     = 5   // between two bursts of questions
)

// driver is what belongs to the goroutine of a Service.
type driver struct {
	redeliver.Driver
	s      *Service
	cursor int64 // half messages below are ended, or on the agenda
	agenda agenda
	asking asking

	writeAt  int64 // when ops are written, ms of the wire's clock; never: there are none
	saveAt   int64 // when the progress is saved
	refusals int   // of op records, in a row
	// putting counts what is given up and not stored for good yet.
	putting atomic.Int32
}

func (d *driver) run() {
	defer d.s.wg.Done()
	due, wire := d.s.opts.Store.NewTimer(), d.s.opts.Wire.NewTimer()
	defer due.Disarm()
	defer wire.Disarm()
	d.writeAt, d.saveAt = never, never
	for {
		// Nothing that arrives from here on is missed: it is due before never.
		d.s.armedAt.Store(never)
		now := d.s.opts.Store.NowMillis()
		next, paused := d.pass(now)
		if !paused {
			d.s.armedAt.Store(next)
			if next <= now {
				if d.Stopped() {
					return
				}
				continue
			}
			if d.putting.Load() == 0 {
				d.Answer(next)
			}
		}
		wake := d.write()
		if paused {
			next, wake = never, min(wake, d.s.opts.Wire.NowMillis()+pauseMs)
		}
		clock.Rearm(due, next)
		clock.Rearm(wire, wake)
		if d.Sleep(due, wire) {
			return
		}
	}
}

// write writes down what has ended and saves the progress, each in its time, and returns when there
// is something of that to do again, ms of the wire's clock.
func (d *driver) write() (next int64) {
	now := d.s.opts.Wire.NowMillis()
	if d.writeAt == never && d.s.opsArmed.Load() {
		d.writeAt = now + min(d.s.opts.OpDelayMs, maxOpDelayMs)
	}
	if now >= d.writeAt || d.s.recordFull() && d.refusals == 0 {
		d.writeAt = never
		d.s.opsArmed.Store(false)
		if err := d.s.writeOps(); err != nil {
			d.refused(now, err)
		} else if d.refusals > 0 {
			d.refusals = 0
			d.s.blocked.Store(nil)
			d.s.opts.Logger.Info("what transactions have ended is written down again")
		}
		if d.saveAt == never {
			d.saveAt = now + saveDelayMs
		}
	}
	if now >= d.saveAt {
		d.saveAt = never
		if d.s.saveProgress() {
			d.saveAt = now + saveDelayMs
		}
	}
	return min(d.writeAt, d.saveAt)
}

// refused puts off what could not be written.
func (d *driver) refused(now int64, err error) {
	d.refusals++
	d.s.opsArmed.Store(true)
	d.writeAt = now + redeliver.Backoff(d.refusals)
	reason := err.Error()
	d.s.blocked.Store(&reason)
	if d.refusals == 1 {
		d.s.opts.Logger.WithError(err).Error("what transactions have ended cannot be written down: it is tried again")
	}
}

// pass asks what producers are to be asked now, and returns when to ask again. Paused: there is more,
// after a moment for producers to answer.
func (d *driver) pass(now int64) (next int64, paused bool) {
	young := d.look(now)
	asked, paused := d.ask(now)
	return min(young, asked), paused
}

// look puts on the agenda which half messages have been open for long, and returns when the next one
// will have been.
func (d *driver) look(now int64) (next int64) {
	s := d.s
	q := s.opts.Log.Queue(topicHalf, 0)
	if q == nil {
		return never
	}
	for {
		s.mu.Lock()
		s.arrivals()
		at, end := s.ledger.next(d.cursor), s.ledger.end
		asked := s.ledger.asked(at)
		s.mu.Unlock()
		d.cursor = at
		if at >= end {
			return never
		}
		var youngUntil, due int64
		err := s.withHalf(q, at, func(h *half) error {
			youngUntil = h.v.StoreTimestamp + s.opts.Admission.youngest.Load()
			due = h.due(&s.rules.Load().Times, asked)
			return nil
		})
		if err != nil {
			s.lost(at, err)
			continue
		}
		if youngUntil > now {
			return youngUntil
		}
		d.agenda.push(entry{due: due, offset: at})
		d.cursor++
	}
}

// lost notes an open half message that cannot be read: nobody will ever commit it. The next start
// tries again.
func (s *Service) lost(offset int64, err error) {
	s.mu.Lock()
	s.ledger.close(offset)
	s.mu.Unlock()
	if n := s.counts.unreadable.Add(1); n&(n-1) == 0 {
		s.opts.Logger.WithError(err).WithField("messages", n).Error("an open half message cannot be read and is lost")
	}
}

// recordFull tells whether there is enough to say for an op record.
func (s *Service) recordFull() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ops.size >= s.opts.OpMaxSize
}
