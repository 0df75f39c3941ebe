package timer

import (
	"errors"
	"slices"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
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
// that it is to be looked for in the files. The caller holds the lock and has everything taken in.
func (c *changes) locate(id ID) (f located, stored bool, err error) {
	f.line = c.state.lines.of(message.Due{Wall: id.Wall})
	if _, removed := c.state.superseding[id.CommitLogOffset]; removed {
		return f, false, ErrNotPending
	}
	if c.state.known.has(id.CommitLogOffset) {
		return f, false, ErrTooLate
	}
	if sec := f.line.find(id.Second); sec != nil {
		return f, false, c.locateLoaded(&f, sec, id)
	}
	if id.Second < f.line.t.Hand() {
		return f, false, c.passed(id)
	}
	return f, true, nil
}

// locateLoaded looks in a second in memory.
func (c *changes) locateLoaded(f *located, sec *second, id ID) error {
	at := slices.IndexFunc(sec.entries, func(e entry) bool { return e.logOffset == id.CommitLogOffset })
	if at < 0 {
		return c.passed(id)
	}
	err := c.records.notCancelled(f, sec, &sec.entries[at])
	if err == nil && !c.waits(sec, int32(at)) {
		return ErrTooLate
	}
	return err
}

// waits tells whether an entry of a second in memory is still to be delivered.
func (c *changes) waits(sec *second, i int32) bool {
	if sec.chains != nil {
		for at := sec.chains.head[sec.entries[i].bucket()]; at != noEntry; at = sec.entries[at].next {
			if at == i {
				return true
			}
		}
	}
	return c.held.has(sec, i)
}

// notCancelled takes the message that was found unless something removes it.
func (r *records) notCancelled(f *located, sec *second, e *entry) (err error) {
	defer store.CatchFault(&err)
	f.item = wheel.Item{Entry: wheel.Entry{Due: sec.dueOf(e), LogOffset: e.logOffset, Size: e.size}, Record: slices.Clone(e.bytes())}
	return r.withRecord(e.logOffset, e.size, f.item.Record, func(v *message.View) error {
		if sec.hasCancels() && r.isCancelled(sec, e, v) {
			return ErrNotPending
		}
		return nil
	})
}

// passed is what is said about a message whose second does not have it any more.
func (c *changes) passed(id ID) error {
	said := ErrNotPending
	// Whether there ever was such a record is not known when the log does not have the place any more.
	if err := c.records.withRecord(id.CommitLogOffset, 0, nil, func(v *message.View) error {
		p, reason := readPending(v, c.records.precisionMs)
		if string(v.Topic) == message.TopicTimer && reason == "" && p.due.Wall == id.Wall && slotOf(p.due.Ms) == id.Second {
			said = ErrTooLate
		}
		return nil
	}); err != nil {
		c.logger.WithError(err).WithField("id", id.String()).Debug("a message that was asked for is not in the log")
	}
	return said
}
