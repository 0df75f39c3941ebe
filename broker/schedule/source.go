package schedule

import (
	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker/redeliver"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/message"
)

// recognise looks in the log, from an offset on, for copies of what counts as pending, and takes
// their sources out of the backlogs. A copy lies behind its source: nothing is to be found before
// the first pending record. Damage ends the search; what lies behind it may come again.
func (s *Service) recognise(from int64) {
	first, pending := s.pinned()
	if !pending {
		return
	}
	from = max(from, first)
	begun := s.opts.Wire.NowMillis()
	tell, records, found := begun+1000, 0, 0
	err := s.opts.Log.Scan(from, func(v *message.View) error {
		if source, ok := redeliver.SourceOf(v.Properties, s.opts.Log.Epoch()); ok && s.deliveredAlready(source) {
			found++
		}
		if records++; records&1023 == 0 {
			if now := s.opts.Wire.NowMillis(); now >= tell {
				tell = now + 5000
				s.opts.Wheel.WithFields(logrus.Fields{"from": from, "at": v.CommitLogOffset, "end": s.opts.Log.MaxCommitLogOffset()}).
					Info("looking for delayed messages that were delivered before the last stop")
			}
		}
		return nil
	})
	if found > 0 && s.opts.Differences != nil {
		s.opts.Differences.Use(difference.DelayedCopiesRecognised)
	}
	log := s.opts.Wheel.WithFields(logrus.Fields{"from": from, "records": records, "found": found})
	if err != nil {
		log.WithError(err).Error("the log cannot be read on: delayed messages delivered behind this place may come again")
	} else if found > 0 {
		log.Info("delayed messages delivered before the last stop are recognised")
	}
}

// deliveredAlready takes the record at a log offset out of its level's backlog. It returns
// whether it was there.
func (s *Service) deliveredAlready(source int64) bool {
	slice, err := s.opts.Log.Record(source, 0)
	if err != nil {
		return false
	}
	defer slice.Release()
	v, err := message.Parse(slice.Bytes)
	if err != nil || string(v.Topic) != message.TopicSchedule {
		return false
	}
	for _, l := range s.levels {
		if l.queueID == v.QueueID {
			removed := l.backlog.remove(v.QueueOffset)
			if removed {
				s.progress++
			}
			return removed
		}
	}
	return false
}

// pinned is the log offset of the first record that is not delivered, and false when none is.
func (s *Service) pinned() (commitLogOffset int64, pending bool) {
	for _, l := range s.levels {
		q := s.opts.Log.Queue(topicSchedule, l.queueID)
		if q == nil {
			continue
		}
		u, ok := q.Unit(max(l.backlog.lowest(), q.Min()))
		if ok && (!pending || u.CommitLogOffset < commitLogOffset) {
			commitLogOffset, pending = u.CommitLogOffset, true
		}
	}
	return commitLogOffset, pending
}
