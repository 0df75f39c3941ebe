package schedule

import (
	"context"
	"fmt"

	"github.com/wheelmq/wheelmq/clock"
)

// Settle returns when everything due at the store clock's instant is delivered and stored for
// good, and everything that had arrived when it was called is known; next is the instant of the
// store clock, ms, at which there is something to do: a message is due, or a level tries a target
// again that refused. math.MaxInt64: never. It needs a service that was started.
func (s *Service) Settle(ctx context.Context) (next int64, err error) {
	if !s.opts.Enabled {
		return never, nil
	}
	next, err = s.driver.Settle(ctx)
	if err != nil {
		return 0, fmt.Errorf("schedule: settle: %w", err)
	}
	return next, nil
}

func (s *Service) drive() {
	defer s.wg.Done()
	timer := s.opts.Store.NewTimer()
	defer timer.Disarm()
	for {
		// Nothing that arrives from here on is missed: it is due before never.
		s.armedAt.Store(never)
		now := s.opts.Store.NowMillis()
		next := s.worker.pass(now)
		s.armedAt.Store(next)
		if next <= now {
			if s.driver.Stopped() {
				return
			}
			continue
		}
		if !s.flying() {
			s.driver.Answer(next)
		}
		clock.Rearm(timer, next)
		if s.driver.Sleep(timer, nil) {
			return
		}
	}
}

// flying tells whether a batch is on its way.
func (s *Service) flying() bool {
	for _, l := range s.levels {
		if len(l.flights) > 0 {
			return true
		}
	}
	return false
}

// pass looks at every level and returns when to look again.
func (w *worker) pass(now int64) (next int64) {
	w.s.passes.Add(1)
	if w.s.opts.Stall != nil {
		w.checkStall()
	}
	if w.s.opts.InOrder {
		return w.inOrder(now)
	}
	next = never
	for _, l := range w.s.levels {
		next = min(next, w.turn(l, now))
	}
	return next
}

// inOrder is a pass that delivers what is due at the earliest instant and nothing else. A level
// that has more of it than one batch ends the pass, so that the levels behind it wait.
func (w *worker) inOrder(now int64) (next int64) {
	next = never
	first := never
	for _, l := range w.s.levels {
		q, again := w.look(l, now)
		next = min(next, again)
		if q == nil {
			continue
		}
		if l.backlog.scanned < q.Max() {
			return now
		}
		first = min(first, l.backlog.due())
	}
	if first > now {
		return min(next, first)
	}
	for _, l := range w.s.levels {
		if now < l.retryAt || l.backlog.due() != first {
			continue
		}
		if w.room(l) == 0 {
			return next // until a batch on its way settles
		}
		if err := w.deliverDue(l, w.s.opts.Log.Queue(topicSchedule, l.queueID), first); err != nil {
			next = min(next, w.refused(l, now, err))
		} else if l.backlog.due() == first {
			break
		}
	}
	return now
}
