package timer

import (
	"errors"

	wheel "github.com/wheelmq/wheelmq/store/timer"
)

// open goes on from the checkpoint. Without one that can be used, what is near is taken out of the
// timer queue again, and what is far is found in its files.
func (s *Service) open() error {
	checkpoints := &s.saver.checkpoints
	c, err := s.handover.takeOver(checkpoints.load())
	if err != nil {
		return err
	}
	if c == nil {
		if err := checkpoints.forget(); err != nil {
			return err
		}
	}
	err = s.openLines(c)
	if errors.Is(err, wheel.ErrDamaged) && c != nil {
		s.opts.Logger.WithError(err).Error("the timers' files are not those of their checkpoint: they are made again from the log")
		s.state.damage.before = c.damaged
		if err = checkpoints.forget(); err == nil {
			c, err = nil, s.openLines(nil)
		}
	}
	if err != nil {
		return err
	}
	s.resume(c)
	return nil
}

// resume goes on from where a checkpoint says, nil: there is none.
func (s *Service) resume(c *checkpoint) {
	var copiesFrom, reached int64
	if c != nil {
		copiesFrom, reached = c.copiesFrom, c.reached
		s.restore(c)
	}
	now := s.opts.Store.NowMillis()
	for _, l := range s.state.lines {
		lineNow := l.now(now)
		reached = max(reached, lineNow/1000)
		s.sorter.prepare(l, lineNow)
	}
	s.saver.reached = reached
	if s.handover.pending != nil {
		copiesFrom = s.handover.inherit()
	} else if c == nil {
		copiesFrom = s.rebuild()
	}
	s.recognise(copiesFrom, reached)
	s.pin.savedFrom(s.pin.needed()) // by the checkpoint that there is, until there is another
}

// restore takes over what a checkpoint says beside the lines.
func (s *Service) restore(c *checkpoint) {
	s.state.queueOffset, s.saver.savedOffset, s.rates.offset = c.queueOffset, c.queueOffset, c.queueOffset
	s.state.damage.before = c.damaged
	if c.moved != nil {
		s.state.moved = c.moved
	}
	s.intake.rebuildTo = s.records.queueEnd() // what came since may say what is not delivered
	for name, n := range c.topics {
		s.state.topics.of(name).n = n
	}
}

// openLines opens the Timelines. When files do not have messages that the checkpoint names, the error
// wraps wheel.ErrDamaged: the log may have them.
func (s *Service) openLines(c *checkpoint) error {
	var saved [2]*wheel.State
	if c != nil {
		saved = c.lines
	}
	opts := wheel.Options{FS: s.opts.FS, Dir: dir, Log: s.opts.Logger}
	lost, err := s.state.lines.open(opts, saved, s.opts.Log.MaxCommitLogOffset(), s.opts.Store)
	s.state.damage.since += lost
	return err
}
