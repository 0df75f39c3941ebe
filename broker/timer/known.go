package timer

import (
	"slices"
	"strconv"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker/redeliver"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/message"
)

// sources are the records of which the log has copies that the checkpoint does not know of: they
// were delivered after it. They are needed until everything that they may be of is done.
type sources struct {
	offsets []int64 // in the log, ascending; nil: there are none
	from    int64   // log offset that none of the copies lies below
	until   int64   // the last second that one of them may be kept in
}

func (k *sources) has(commitLogOffset int64) bool {
	if len(k.offsets) == 0 {
		return false
	}
	_, found := slices.BinarySearch(k.offsets, commitLogOffset)
	return found
}

// copiesFrom is from where on a start must look for copies because of them.
func (k *sources) copiesFrom() int64 {
	if len(k.offsets) == 0 {
		return never
	}
	return k.from
}

// forgetKnown forgets them when the hands of all lines are past them; next is when to look again, ms of
// message time, like now.
func (s *state) forgetKnown(now int64) (next int64) {
	next = never
	if len(s.known.offsets) == 0 {
		return next
	}
	passed := true
	for _, l := range s.lines {
		if l.t.Hand() > s.known.until {
			continue
		}
		passed = false
		if at := toStore((s.known.until+1)*1000, l.now(now), now); at > now {
			next = min(next, at)
		}
	}
	if passed {
		s.known = sources{}
		s.progress++
	}
	return next
}

// recognise looks in the log, from an offset on, for copies of timer messages. Damage ends the
// search; what lies behind it may come again.
func (s *Service) recognise(from, reached int64) {
	log := s.opts.Log
	begun := s.opts.Wire.NowMillis()
	tell, records := begun+1000, 0
	known := sources{from: from, until: reached}
	err := log.Scan(from, func(v *message.View) error {
		if source, ok := redeliver.SourceOf(v.Properties, log.Epoch()); ok && timerCopy(v.Properties) {
			known.offsets = append(known.offsets, source)
			if out, ok := message.TimerOutOf(v.Properties); ok {
				known.until = max(known.until, (out+s.opts.PrecisionMs)/1000)
			}
		}
		if records++; records&1023 == 0 {
			if now := s.opts.Wire.NowMillis(); now >= tell {
				tell = now + 5000
				s.opts.Logger.WithFields(logrus.Fields{"from": from, "at": v.CommitLogOffset, "end": log.MaxCommitLogOffset()}).
					Info("looking for timer messages that were delivered before the last stop")
			}
		}
		return nil
	})
	slices.Sort(known.offsets)
	known.offsets = slices.Compact(known.offsets)
	s.state.known = known
	told := s.opts.Logger.WithFields(logrus.Fields{"from": from, "records": records, "found": len(known.offsets)})
	if err != nil {
		told.WithError(err).Error("the log cannot be read on: timer messages delivered behind this place may come again")
	} else if len(known.offsets) > 0 {
		told.Debug("timer messages delivered before the last stop are recognised")
	}
	if len(known.offsets) > 0 && s.opts.Differences != nil {
		s.opts.Differences.Use(difference.DelayedCopiesRecognised)
	}
}

// timerCopy tells whether a copy was made by this service and not by the delay levels, which deliver
// retries of what was a timer message once.
func timerCopy(props []byte) bool {
	if _, ok := message.PropertyGet(props, message.PropertyTimerOutMs); !ok {
		return false
	}
	text, ok := message.PropertyGet(props, message.PropertyDelay)
	if !ok {
		return true
	}
	level, err := strconv.ParseInt(string(text), 10, 64)
	return err == nil && level <= 0
}
