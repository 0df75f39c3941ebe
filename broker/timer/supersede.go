package timer

import (
	"errors"

	"github.com/wheelmq/wheelmq/message"
	wheel "github.com/wheelmq/wheelmq/store/timer"
)

// A record that supersedes removes one pending message by its identity, and may be a message itself
// that takes its place. Beside its own entry it has one in the slot of the removed message, a
// CancelRef, by a log offset of its own: one byte behind its begin.
const refOffset = 1

var errHalfTaken = errors.New("timer: a record is taken in by half")

// superseding are the messages whose removal is in the log and not yet taken out of the queue, by
// their log offsets.
type superseding map[int64]ID

// takeSuperseding takes in a record that supersedes. The message comes first: what a crash leaves
// of the two must not be the removal alone. A failure between them is gone on with, and no
// checkpoint is made meanwhile.
func (i *intake) takeSuperseding(v *message.View, p *pendingRecord, item *wheel.Item, now int64) error {
	if p.supersedes.Generation > 0 && i.half != item.LogOffset {
		if err := i.takeMessage(v, p, item, now); err != nil {
			return err
		}
		i.half = item.LogOffset
	}
	if err := i.takeRef(p.supersedes, item); err != nil {
		return err
	}
	i.half = nothing
	i.state.moved.note(v, p)
	delete(i.state.superseding, p.supersedes.LogOffset)
	// It does not count from now on; what removes it, so that nobody counts it out again.
	i.state.topics.of(string(p.realTopic)).n--
	return nil
}

// nothing is no log offset.
const nothing = int64(-1)

// takeRef adds the removal where its message is.
func (i *intake) takeRef(sup *message.Supersedes, item *wheel.Item) error {
	l := i.state.lines.of(message.Due{Wall: sup.Wall})
	if sup.Second < l.t.Hand() {
		return nil // it was removed when its second was due
	}
	e := wheel.Entry{Due: sup.Second*1000 + 1, LogOffset: item.LogOffset + refOffset, Size: item.Size, Flags: wheel.CancelRef}
	if err := i.add(l, sup.Second, &wheel.Item{Entry: e, Record: item.Record}); err != nil {
		return err
	}
	i.tell(l, sup.Second, func(sec *second) { sec.addRef(sup.LogOffset) })
	return nil
}

// addRef removes a message by its log offset.
func (s *second) addRef(commitLogOffset int64) {
	if s.refs == nil {
		s.refs = make(map[int64]struct{})
	}
	s.refs[commitLogOffset] = struct{}{}
}

// removedByRef tells whether a message was removed by its log offset. It was counted out then.
func (s *second) removedByRef(e *entry) bool {
	_, removed := s.refs[e.logOffset]
	return removed
}

// hide adds to a second that is read what is removed of it by records that are not taken in.
func (g superseding) hide(sec *second, wall bool) {
	for offset, id := range g {
		if id.Second == sec.number && id.Wall == wall {
			sec.addRef(offset)
		}
	}
}
