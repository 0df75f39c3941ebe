package timer

import (
	"context"
	"fmt"

	"github.com/wheelmq/wheelmq/broker/redeliver"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/message"
)

// After it has taken some in, arrivals need not wake the driver for a while, ms: every wake costs as much
// as taking in ten more. It looks more often while messages come that are due soon.
const (
	lingerMs     = 5
	lingerSoonMs = 1
	soonMs       = 100  // what is due within that is due soon
	soonForMs    = 1000 // how long more of the kind are expected
)

// Soon tells that a message will be put which is due before long; now is ms of message time.
func (s *Service) Soon(now int64) {
	if before := s.soonUntil.Swap(now + soonForMs); before <= now {
		s.wake()
	}
}

// linger is how long arrivals need not wake the driver, ms.
func (s *Service) linger(now int64) int64 {
	if s.soonUntil.Load() > now {
		return lingerSoonMs
	}
	return lingerMs
}

// Settle returns when everything due at the store clock's instant is delivered and stored for
// good, and everything that had arrived when it was called is known; next is the instant of the
// store clock, ms, at which there is something to do: a message is due, or a target is tried again
// that refused. math.MaxInt64: never. It needs a service that was started.
func (s *Service) Settle(ctx context.Context) (next int64, err error) {
	if !s.opts.Enabled {
		return never, nil
	}
	next, err = s.settling.Wait(ctx, s.stop)
	if err != nil {
		return 0, fmt.Errorf("timer: settle: %w", err)
	}
	return next, nil
}

// plan is what a pass has found out.
type plan struct {
	wake    int64 // when to look again, ms of message time
	due     int64 // when the first message is due, or is tried again
	again   bool  // there is more to do now
	settled bool  // everything due is stored for good
	took    bool  // records were taken in
}

// at plans for an instant at which a message is due.
func (p *plan) at(due int64) { p.due, p.wake = min(p.due, due), min(p.wake, due) }

func (s *Service) drive() {
	defer s.wg.Done()
	defer close(s.worker.putter.asks)
	timer := s.opts.Store.NewTimer()
	defer timer.Disarm()
	for {
		// Nothing that arrives from here on is missed.
		s.asleep.Store(true)
		now := s.opts.Store.NowMillis()
		p := s.pass(now)
		if p.again || p.wake <= now {
			if redeliver.Stopped(s.stop) {
				return
			}
			continue
		}
		if p.settled {
			s.settling.Answer(p.due)
		}
		if p.took && !s.opts.InOrder {
			s.asleep.Store(false)
			p.wake = min(p.wake, now+s.linger(now))
		}
		clock.Rearm(timer, p.wake)
		select {
		case <-timer.C():
		case <-s.kick:
		case answer := <-s.settling.Asks():
			s.settling.Hear(answer)
		case <-s.stop:
			return
		}
	}
}

// pass takes in what came, delivers a batch of every second in which something is due, and finds
// out when to look again.
func (s *Service) pass(now int64) (p plan) {
	p = plan{wake: never, due: never}
	s.passes.Add(1)
	s.checkStall()
	p.took = s.enqueue(now) > 0
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.settle(); s.taking.refusals > 0 {
		p.wake = min(p.wake, max(s.taking.retryAt, now+1))
	}
	if len(s.aside.units) > 0 {
		p.wake = min(p.wake, max(s.aside.wait.retryAt, now+1))
	}
	if s.queueOffset < s.rebuildTo || s.handover.inherits() {
		return p // what was delivered, or cancelled, is not known before
	}
	for _, l := range s.lines {
		s.load(l, s.nowOf(l, now))
	}
	switch {
	case s.worker.stall != "":
		s.withhold(now)
	case now < s.storing.retryAt:
		p.at(s.storing.retryAt)
	case s.inFlight >= maxInFlight:
	default:
		s.deliverAll(now, &p)
	}
	for _, l := range s.lines {
		s.advance(l, s.nowOf(l, now))
		s.look(l, now, &p)
	}
	s.forgetKnown(now, &p)
	p.settled = len(s.flights) == 0 && s.repairs == 0 && !s.waitsForFiles(now)
	s.noteOldest()
	return p
}

// deliverAll gives every due second its turn, and the targets that refused.
func (s *Service) deliverAll(now int64, p *plan) {
	retry, err := s.retryHeld(now)
	p.at(retry)
	if err == nil && s.opts.InOrder {
		err = s.deliverFirst(now)
	} else if err == nil {
		err = s.deliverTurns(now)
	}
	if err != nil {
		s.storing.refused(s.opts.Store.NowMillis(), err)
		s.opts.Logger.WithError(err).Log(s.storing.level(), "due timer messages wait: the store refuses them")
		p.at(s.storing.retryAt)
		return
	}
	if s.storing.refusals > 0 && s.inFlight == 0 {
		if s.storing.blocked() != "" {
			s.opts.Logger.Info("due timer messages are delivered again")
		}
		s.storing.ended()
	}
}

func (s *Service) deliverTurns(now int64) error {
	for _, l := range s.lines {
		lineNow := s.nowOf(l, now)
		for _, sec := range l.loaded {
			if sec.left == 0 || sec.due() > lineNow {
				continue
			}
			if err := s.deliverDue(l, sec, lineNow); err != nil {
				return err
			}
		}
	}
	return nil
}

// deliverFirst delivers of what is due at the earliest instant, and nothing else, once everything
// before timers is delivered.
func (s *Service) deliverFirst(now int64) error {
	first, earliest := never, (*line)(nil)
	for _, l := range s.lines {
		for _, sec := range l.loaded {
			if due := toStore(sec.due(), s.nowOf(l, now), now); due < first {
				first, earliest = due, l
			}
		}
	}
	if first > now {
		return nil
	}
	if s.opts.First != nil {
		s.mu.Unlock()
		err := s.opts.First(s.ctx)
		s.mu.Lock()
		if err != nil {
			return fmt.Errorf("timer: what goes before timers: %w", err)
		}
	}
	lineNow := s.nowOf(earliest, now)
	for _, sec := range earliest.loaded {
		if sec.left > 0 && toStore(sec.due(), lineNow, now) == first {
			return s.deliverDue(earliest, sec, sec.due())
		}
	}
	return nil
}

// look finds out when a line has something to do.
func (s *Service) look(l *line, now int64, p *plan) {
	lineNow := s.nowOf(l, now)
	for _, sec := range l.loaded {
		switch due := s.nextDue(sec); {
		case due == never && sec.endMs() > lineNow:
			// Until its hand is past a second it keeps the log.
			p.wake = min(p.wake, toStore(sec.endMs(), lineNow, now))
		case due > lineNow:
			p.at(toStore(due, lineNow, now))
		case s.worker.stall != "" || now < s.storing.retryAt || s.inFlight >= maxInFlight:
			// Who ends that wakes the driver.
		default:
			p.again = true
		}
	}
	p.again = p.again || l.loading != nil
	number, more := l.t.NextFrom(max(l.t.Hand(), l.loadedTo+1))
	if more && !l.notReady {
		p.wake = min(p.wake, max(toStore(l.loadFrom(number)*1000, lineNow, now), now+1))
	}
	if l.blocked != "" {
		p.wake = min(p.wake, now+blockedPollMs)
	}
	if l.wall && wallClock(s.opts.Store) && (more || len(l.loaded) > 0) {
		p.wake = min(p.wake, now+wallPollMs) // a step of the wall tells nobody
	}
	if !s.opts.InOrder || !more || !s.idle(l) {
		return
	}
	if number < l.t.NearEnd() && !l.notReady {
		p.again = true // it can be loaded, for its first instant
		return
	}
	p.at(max(now+1, toStore(s.firstFar(l), lineNow, now)))
	// Who came while the files were read may have changed what is first.
	p.again = p.again || l.farAt != s.progress
}

// blockedPollMs is how often files are tried that could not be read, ms.
const blockedPollMs = 1000

// wallPollMs is how often a line that the wall decides looks at it, ms.
const wallPollMs = 500

// nextDue is when a second has something to deliver. With exact instants asked for, a cancelled
// message is none.
func (s *Service) nextDue(sec *second) int64 {
	for s.opts.InOrder && sec.hasCancels() && sec.left > 0 {
		e := sec.first()
		removed := false
		err := s.withRecord(e.logOffset, e.size, e.bytes(), func(v *message.View) error {
			removed = s.isCancelled(sec, e, v)
			if removed {
				s.countRemoved(s.topics.ofRecord(v), sec, e)
			}
			return nil
		})
		if err != nil || !removed {
			break
		}
		s.cancelled.Add(1)
		s.loaded--
		sec.pop()
	}
	return sec.due()
}

// waitsForFiles tells that something due cannot be read yet, or that exact instants are asked for
// and files are being sorted.
func (s *Service) waitsForFiles(now int64) bool {
	for _, l := range s.lines {
		if s.opts.InOrder && l.jobs > 0 && l.jobError == nil {
			return true
		}
		if !l.notReady || l.blocked != "" {
			continue
		}
		if number, ok := l.t.NextFrom(max(l.t.Hand(), l.loadedTo+1)); ok && number <= s.nowOf(l, now)/1000 {
			return true
		}
	}
	return false
}
