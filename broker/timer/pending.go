package timer

import (
	"cmp"
	"iter"

	"github.com/wheelmq/wheelmq/broker/redeliver"
	"github.com/wheelmq/wheelmq/message"
)

// Pending is a message that waits for its instant, by its place in the log.
type Pending struct {
	Due             int64 // ms
	Wall            bool  // Due is an instant of the wall's clock, not of message time
	CommitLogOffset int64 // bytes
	Size            int32 // of the record, bytes

	second int64
	record []byte // nil: in the log
}

// compareDue is the order in which messages of a line are delivered.
func compareDue(a, b Pending) int {
	return cmp.Or(cmp.Compare(a.second, b.second), cmp.Compare(a.Due, b.Due), cmp.Compare(a.CommitLogOffset, b.CommitLogOffset))
}

// Count is how many messages pend. One that is cancelled counts until its second is due.
func (s *Service) Count() int64 {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	return max(0, s.state.topics.total()) + s.intake.untaken()
}

// Due is the instant of message time at which the first pending message is due, ms, and how many
// there are; with none the instant is math.MaxInt64. Messages that have just come count, cancelled
// ones do not when exact instants are asked for (Options.InOrder).
func (s *Service) Due() (next, messages int64) {
	next = never
	now := s.opts.Store.NowMillis()
	for p := range s.Pending() {
		if messages++; messages == 1 {
			next = p.Due
			if p.Wall {
				next = toStore(p.Due, s.state.lines[absoluteLine].now(now), now)
			}
		}
		if !s.opts.InOrder {
			return next, s.Count()
		}
	}
	return next, messages
}

// Pending lists the pending messages in the order in which they come due, those of the same instant
// as they arrived. Nothing is held meanwhile: what is delivered while the caller goes on may be in
// the list. Memory is taken for some ten thousand messages at a time.
func (s *Service) Pending() iter.Seq[Pending] { return s.List(0).All() }

// Read returns a pending message as it will be in its topic, but for where it will lie there:
// CommitLogOffset and StoreTimestamp are of where it waits. A failure is logged, and counted.
func (s *Service) Read(p Pending) (rec message.Record, err error) {
	err = s.records.withRecord(p.CommitLogOffset, p.Size, p.record, func(v *message.View) error {
		rec, err = redeliver.Real(v, p.CommitLogOffset)
		return err
	})
	if err != nil {
		s.records.unread(p.CommitLogOffset, err)
	}
	return rec, err
}
