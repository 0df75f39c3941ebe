package timer

import (
	"errors"
	"slices"

	"github.com/wheelmq/wheelmq/message"
	wheel "github.com/wheelmq/wheelmq/store/timer"
)

// What keeps a pending message from being changed.
var (
	// ErrNotPending: there is no such message, or it was cancelled or given another instant.
	ErrNotPending = errors.New("timer: no such message is pending")
	// ErrTooLate: the message was delivered, is on its way, or its instant is past.
	ErrTooLate = errors.New("timer: too late: the message is delivered, or on its way")
	// ErrBusy: the answer is not known now; trying again helps.
	ErrBusy = errors.New("timer: busy")
	// ErrInstant: Reschedule does not go there.
	ErrInstant = errors.New("timer: no instant to go to")
)

// located is a pending message that was found.
type located struct {
	line *line
	item wheel.Item // with a record of its own, or none: it is in the log
}

// locate finds a pending message that is in memory, or finds out why it does not pend. stored tells
// that it is to be looked for in the files. The caller holds mu and has everything taken in.
func (s *Service) locate(id ID) (f located, stored bool, err error) {
	f.line = s.lineOfID(id)
	if _, removed := s.superseding[id.CommitLogOffset]; removed {
		return f, false, ErrNotPending
	}
	if s.known.has(id.CommitLogOffset) {
		return f, false, ErrTooLate
	}
	if sec := f.line.find(id.Second); sec != nil {
		return f, false, s.locateLoaded(&f, sec, id)
	}
	if id.Second < f.line.t.Hand() {
		return f, false, s.passed(id)
	}
	return f, true, nil
}

// locateLoaded looks in a second in memory.
func (s *Service) locateLoaded(f *located, sec *second, id ID) error {
	at := slices.IndexFunc(sec.entries, func(e entry) bool { return e.logOffset == id.CommitLogOffset })
	if at < 0 {
		return s.passed(id)
	}
	err := s.notCancelled(f, sec, &sec.entries[at])
	if err == nil && !s.waits(sec, int32(at)) {
		return ErrTooLate
	}
	return err
}

// waits tells whether an entry of a second in memory is still to be delivered.
func (s *Service) waits(sec *second, i int32) bool {
	if sec.chains != nil {
		for at := sec.chains.head[sec.entries[i].bucket()]; at != noEntry; at = sec.entries[at].next {
			if at == i {
				return true
			}
		}
	}
	for _, t := range s.held.order {
		if slices.ContainsFunc(t.entries, func(h heldEntry) bool { return h.sec == sec && h.i == i }) {
			return true
		}
	}
	return false
}

// notCancelled takes the message that was found unless something removes it.
func (s *Service) notCancelled(f *located, sec *second, e *entry) error {
	f.item = wheel.Item{Entry: wheel.Entry{Due: sec.dueOf(e), LogOffset: e.logOffset, Size: e.size}, Record: slices.Clone(e.bytes())}
	return s.withRecord(e.logOffset, e.size, f.item.Record, func(v *message.View) error {
		if sec.hasCancels() && s.isCancelled(sec, e, v) {
			return ErrNotPending
		}
		return nil
	})
}

// passed is what is said about a message whose second does not have it any more.
func (s *Service) passed(id ID) error {
	said := ErrNotPending
	// Whether there ever was such a record is not known when the log does not have the place any more.
	if err := s.withRecord(id.CommitLogOffset, 0, nil, func(v *message.View) error {
		p, reason := readPending(v, s.opts.PrecisionMs)
		if string(v.Topic) == message.TopicTimer && reason == "" && p.due.Wall == id.Wall && slotOf(p.due.Ms) == id.Second {
			said = ErrTooLate
		}
		return nil
	}); err != nil {
		s.opts.Logger.WithError(err).WithField("id", id.String()).Debug("a message that was asked for is not in the log")
	}
	return said
}
