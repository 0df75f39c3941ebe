package timer

import (
	"errors"

	"github.com/wheelmq/wheelmq/message"
	wheel "github.com/wheelmq/wheelmq/store/timer"
)

// rebuild prepares for taking in the timer queue from its beginning, and returns from where in the
// log copies may lie.
func (s *Service) rebuild() (copiesFrom int64) {
	s.countFar()
	if s.nothingEver() {
		return s.opts.Log.MaxCommitLogOffset()
	}
	if q := s.records.queue(); q != nil {
		s.state.queueOffset, s.intake.rebuildTo = q.Min(), q.Max()
		if s.opts.Enabled {
			s.opts.Logger.WithField("records", q.Max()-q.Min()).Warn("there is no checkpoint of the timers: the timer queue is read from its beginning")
		}
	}
	return 0
}

// nothingEver tells that no message waited for an instant in this store.
func (s *Service) nothingEver() bool {
	q := s.records.queue()
	return (q == nil || q.Max() == 0) && s.state.topics.total() == 0
}

// countFar counts the messages in far files whose records the log does not have any more: those of
// the others are met in the timer queue.
func (s *Service) countFar() {
	begin := s.opts.Log.MinCommitLogOffset()
	count := func(item *wheel.Item) error {
		number := map[wheel.Flags]int64{0: 1, wheel.CancelRef: -1}[item.Flags]
		if number == 0 || item.LogOffset >= begin {
			return nil
		}
		return s.records.withRecord(item.LogOffset, item.Size, item.Record, func(v *message.View) error {
			s.state.topics.ofRecord(v).n += number
			return nil
		})
	}
	for _, l := range s.state.lines {
		var failed error
		err := l.each(0, func(_ int64, item *wheel.Item) error {
			failed = errors.Join(failed, count(item))
			return nil
		})
		if err := errors.Join(failed, err); err != nil {
			s.opts.Logger.WithError(err).WithField("line", l.name).Error("not all far timers can be counted")
		}
	}
}
