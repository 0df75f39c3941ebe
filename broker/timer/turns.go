package timer

import (
	"fmt"

	"github.com/wheelmq/wheelmq/message"
)

// all gives every due second its turn, and the targets that refused; next is when to try again what was
// refused, ms of message time; never: nothing was.
func (d *delivery) all(now int64) (next int64) {
	err := d.retryHeld(now)
	if err == nil && d.inOrder {
		err = d.first(now)
	} else if err == nil {
		err = d.turns(now)
	}
	if err != nil {
		d.storing.refused(d.clock.NowMillis(), err)
		d.logger.WithError(err).Log(d.storing.level(), "due timer messages wait: the store refuses them")
		return d.storing.retryAt
	}
	if d.storing.refusals > 0 && d.inFlight == 0 {
		if d.storing.blocked() != "" {
			d.logger.Info("due timer messages are delivered again")
		}
		d.storing.ended()
	}
	return d.held.nextTry(now)
}

// turns delivers a batch of every due second.
func (d *delivery) turns(now int64) error {
	for _, l := range d.state.lines {
		lineNow := l.now(now)
		for _, sec := range l.loaded {
			if sec.left == 0 || sec.due() > lineNow || sec.heldBack(lineNow) {
				continue
			}
			if err := d.deliverDue(l, sec, lineNow); err != nil {
				return err
			}
		}
	}
	return nil
}

// first delivers of what is due at the earliest instant, and nothing else, once everything before timers
// is delivered.
func (d *delivery) first(now int64) error {
	first, earliest := never, (*line)(nil)
	for _, l := range d.state.lines {
		for _, sec := range l.loaded {
			if due := toStore(sec.due(), l.now(now), now); due < first {
				first, earliest = due, l
			}
		}
	}
	if first > now {
		return nil
	}
	if d.before != nil {
		var err error
		d.state.without(func() { err = d.before(d.ctx) })
		if err != nil {
			return fmt.Errorf("timer: what goes before timers: %w", err)
		}
	}
	lineNow := earliest.now(now)
	for _, sec := range earliest.loaded {
		if sec.left > 0 && toStore(sec.due(), lineNow, now) == first {
			return d.deliverDue(earliest, sec, sec.due())
		}
	}
	return nil
}

// nextDue is when a second has something to deliver. With exact instants asked for, a cancelled
// message is none.
func (d *delivery) nextDue(sec *second) int64 {
	for d.inOrder && sec.hasCancels() && sec.left > 0 {
		e := sec.first()
		removed := false
		err := d.records.withRecord(e.logOffset, e.size, e.bytes(), func(v *message.View) error {
			removed = d.records.isCancelled(sec, e, v)
			if removed {
				d.countRemoved(d.state.topics.ofRecord(v), sec, e)
			}
			return nil
		})
		if err != nil || !removed {
			break
		}
		d.cancelled.Add(1)
		d.state.loaded--
		sec.pop()
	}
	return sec.due()
}
