package timer

import (
	"errors"
	"fmt"
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

// locate finds a pending message. The caller holds mu and has everything taken in.
func (s *Service) locate(id ID) (f located, err error) {
	f.line = s.lineOfID(id)
	if _, removed := s.superseding[id.CommitLogOffset]; removed {
		return f, ErrNotPending
	}
	if s.known.has(id.CommitLogOffset) {
		return f, ErrTooLate
	}
	if sec := f.line.find(id.Second); sec != nil {
		return f, s.locateLoaded(&f, sec, id)
	}
	if id.Second < f.line.t.Hand() {
		return f, s.passed(id)
	}
	return f, s.locateStored(&f, id)
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

// locateStored looks in the files: in the second when it can be read, else through its day.
func (s *Service) locateStored(f *located, id ID) error {
	sec := newSecond(id.Second)
	r, err := f.line.t.Read(id.Second)
	switch {
	case errors.Is(err, wheel.ErrNotReady) && id.Second < f.line.t.NearEnd():
		// What came since its hour was closed is read together with it only.
		return fmt.Errorf("%w: the hour of message %s is being sorted", ErrBusy, id)
	case errors.Is(err, wheel.ErrNotReady):
		err = s.takeFar(f.line, sec, id)
	case err == nil:
		defer r.Close()
		for item, ok := r.Next(); ok; item, ok = r.Next() {
			if item.Flags != 0 || item.LogOffset == id.CommitLogOffset {
				s.take(sec, &item)
			}
		}
		err = r.Err()
	}
	at := slices.IndexFunc(sec.entries, func(e entry) bool { return e.logOffset == id.CommitLogOffset })
	switch {
	case at >= 0:
		return s.notCancelled(f, sec, &sec.entries[at])
	case err != nil:
		return fmt.Errorf("timer: look for message %s: %w", id, err)
	}
	return ErrNotPending
}

// takeFar puts the message, and what may remove it, into its second.
func (s *Service) takeFar(l *line, sec *second, id ID) error {
	b := l.t.Browse(id.Second, id.Second+1)
	if b == nil {
		return nil
	}
	defer b.Close()
	for _, item, ok := b.Next(); ok; _, item, ok = b.Next() {
		if item.Flags != 0 || item.LogOffset == id.CommitLogOffset {
			item.Record = slices.Clone(item.Record)
			s.take(sec, &item)
		}
	}
	return b.Err()
}

// passed is what is said about a message whose second does not have it any more.
func (s *Service) passed(id ID) error {
	err := ErrNotPending
	_ = s.withRecord(id.CommitLogOffset, 0, nil, func(v *message.View) error {
		p, reason := readPending(v, s.opts.PrecisionMs)
		if string(v.Topic) == message.TopicTimer && reason == "" && p.due.Wall == id.Wall && slotOf(p.due.Ms) == id.Second {
			err = ErrTooLate
		}
		return nil
	})
	return err
}
