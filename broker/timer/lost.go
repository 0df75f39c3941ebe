package timer

import (
	"errors"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store/region"
	wheel "github.com/wheelmq/wheelmq/store/timer"
)

// lostEntry is an entry that a far file has lost and the log has.
type lostEntry struct {
	slot int64
	item wheel.Item // without its record
	hash uint64     // of what a cancel removes
}

// findLost looks in the log for what a job met damage instead of. It is called without the lock: where
// files are not in the order of the log it may have to look through all of it.
func (s *sorter) findLost(j job, failed error) (found []lostEntry) {
	lost := j.job.Lost()
	if failed != nil || lost == nil {
		return nil
	}
	for _, b := range lost.Between {
		s.records.eachQueued(b.After+1, b.Before, never, func(item *wheel.Item, p *pendingRecord) bool {
			for _, slot := range s.slotsOn(j.line, p) {
				if slot >= lost.From && slot < lost.To && !lost.Has(slot, item.LogOffset) {
					found = append(found, lostEntry{slot, *item, keyHash(p.realTopic, p.cancels)})
				}
			}
			return true
		})
	}
	s.logger.WithFields(logrus.Fields{"line": j.line.name, "from": lost.From, "to": lost.To, "entries": len(found)}).
		Warn("what a damaged file of far timers had is taken out of the log, as far as that has it")
	return found
}

// slotsOn are the seconds of a line in which the entry of a record is kept. It is called without the
// lock.
func (s *sorter) slotsOn(l *line, p *pendingRecord) (slots []int64) {
	lines := &s.state.lines
	switch {
	case p.supersedes != nil:
		if lines.of(message.Due{Wall: p.supersedes.Wall}) == l {
			slots = append(slots, p.supersedes.Second)
		}
	case p.cancels != nil:
		for slot := p.out / 1000; slot <= (p.out+s.records.precisionMs-1)/1000; slot++ {
			slots = append(slots, slot)
		}
		s.state.mu.Lock()
		to, moved := s.state.moved[movedHash(p.realTopic, p.cancels)]
		s.state.mu.Unlock()
		if moved && to.wall == l.wall && !p.names(to.second, s.records.precisionMs) {
			slots = append(slots, to.second)
		}
	case lines.of(p.due) == l:
		slots = append(slots, slotOf(p.due.Ms))
	}
	return slots
}

// putBack adds what was found, as far as it was not dealt with when its second was read unsorted. It was
// counted when it was taken in first. The lock is held since the job was finished: no checkpoint names the
// one without the other. What the disk has no room for is tried again.
func (i *intake) putBack(l *line, found []lostEntry) {
	i.aside.retrying = true // it is older than what was set aside
	defer func() { i.aside.retrying = false }()
	for n := range found {
		f := &found[n]
		if i.state.known.has(f.item.LogOffset) || f.slot < l.doneBefore || l.browsed.has(f.slot) {
			continue
		}
		switch err := i.putBackOne(l, f); {
		case errors.Is(err, region.ErrNoSpace):
			i.returning.found = append(i.returning.found, returningEntry{l, *f})
		case err != nil:
			i.records.lost(f.item.LogOffset, err)
		}
	}
}

// returningEntry is one that a far file has lost and for which the disk has no room.
type returningEntry struct {
	line *line
	lostEntry
}

// returning are such entries: no checkpoint is made until they are kept.
type returning struct {
	found []returningEntry
	wait  wait
}

// retryReturning puts back what there was no room for.
func (i *intake) retryReturning(now int64) {
	r := &i.returning
	if len(r.found) == 0 || now < r.wait.retryAt {
		return
	}
	again := r.found
	r.found = nil
	for n := range again {
		i.putBack(again[n].line, []lostEntry{again[n].lostEntry})
	}
	if len(r.found) > 0 {
		r.wait.refused(now, errAside)
		i.logger.WithField("messages", len(r.found)).
			Log(r.wait.level(), "what a damaged file of far timers had cannot be kept anew and waits")
		return
	}
	r.wait.ended()
	i.state.progress++
}

func (i *intake) putBackOne(l *line, f *lostEntry) error {
	at := f.item.LogOffset
	if f.item.Flags&wheel.CancelRef != 0 {
		at -= refOffset
	}
	slice, err := i.records.log.Record(at, f.item.Size)
	if err != nil {
		return err
	}
	defer slice.Release()
	item := f.item
	item.Record = slice.Bytes
	switch {
	case item.Flags&wheel.CancelRef != 0:
		return i.putBackRef(l, f.slot, &item)
	case item.Flags&wheel.Cancel != 0:
		return i.addCancel(l, f.slot, &item, f.hash)
	}
	return i.keep(l, f.slot, &item)
}

// putBackRef is takeRef for an entry that was kept already.
func (i *intake) putBackRef(l *line, slot int64, item *wheel.Item) error {
	removes, err := i.records.refOf(item)
	if err != nil {
		return err
	}
	item.Due = slot*1000 + 1
	if err := l.t.Add(item.Entry, slot, item.Record); err != nil {
		return err
	}
	i.tell(l, slot, func(sec *second) { sec.addRef(removes) })
	return nil
}
