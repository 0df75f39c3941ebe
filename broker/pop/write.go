package pop

import (
	"errors"

	"github.com/wheelmq/wheelmq/broker/pop/journal"
)

// maxKept is how many messages a record tells of at most.
const maxKept = 4096

func (s *Service) declare(w *Window) {
	var r writer
	r.begin(w.id).text(w.key.Group).text(w.key.Topic).int(int64(w.key.QueueID))
	w.subject = journal.Subject{Kind: recordWindow, Declaration: r.b}
}

// errDeleted is why nothing is noted of a window any more: a record behind that of its end would be
// taken for damage, or bring it back.
var errDeleted = errors.New("pop: the topic or the group was deleted")

// write appends the record that w.record holds. w.mu is held. Urgent ones are refused only when there
// is no room at all.
func (w *Window) write(kind byte, urgent bool) (file uint32, end int64, err error) {
	if w.gone {
		return 0, 0, errDeleted
	}
	return w.s.journal.Append(&w.subject, kind, w.record.b, urgent)
}

// ring is how many files of the journal are told apart, by their numbers modulo ring.
const ring = 1 << 12

// tells counts messages in flight that a file of the journal tells of.
func (s *Service) tells(file uint32, n int64) { s.live[file%ring].Add(n) }

// writePopped notes a pop. w.mu is held.
func (w *Window) writePopped(p *Pop) (file uint32, end int64, err error) {
	base := max(w.cursor, 0)
	w.record.begin(w.id).int(base).int(p.Next).int(p.PopTime).int(p.InvisibleMs).offsets(base, p.Offsets)
	return w.write(recordPopped, false)
}

// writeGone notes the end of flights, of which there are few. w.mu is held.
func (w *Window) writeGone(offsets ...int64) (end int64, err error) {
	w.record.begin(w.id).offsets(0, offsets)
	_, end, err = w.write(recordGone, true)
	return end, err
}

// writeCursor notes a cursor that was set. w.mu is held.
func (w *Window) writeCursor() error {
	w.record.begin(w.id).int(w.cursor)
	file, _, err := w.write(recordCursor, true)
	if err == nil {
		w.file = file
	}
	return err
}

// writeBlock notes what is handed out in order, or that nothing is. w.mu is held.
func (w *Window) writeBlock(b *block, cursor int64, urgent bool) (end int64, err error) {
	r := w.record.begin(w.id).int(cursor)
	if b == nil {
		r.int(0).text("").int(0)
	} else {
		r.int(b.popTime).text(b.attempt).int(int64(len(b.msgs)))
		base := int64(0)
		for i := range b.msgs {
			m, acked := &b.msgs[i], int64(0)
			if m.acked {
				acked = 1
			}
			r.int(m.offset - base).int(m.due - b.popTime).int(int64(m.count)).int(acked)
			base = m.offset
		}
	}
	file, end, err := w.write(recordBlock, urgent)
	if err == nil {
		w.file = file
	}
	return end, err
}

// writeHeld notes messages in flight. w.mu is held.
func (w *Window) writeHeld(popTime, due int64, as state, offsets []int64, from uint32) (end int64, err error) {
	w.record.begin(w.id).int(popTime).int(due-popTime).int(int64(as)).offsets(0, offsets)
	file, end, err := w.write(recordHeld, true)
	if err != nil {
		return 0, err
	}
	for _, offset := range offsets {
		w.held.find(offset).file = file
	}
	w.s.tells(from, -int64(len(offsets)))
	w.s.tells(file, int64(len(offsets)))
	return end, nil
}
