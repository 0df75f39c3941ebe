package timer

import (
	"slices"

	"github.com/sirupsen/logrus"

	wheel "github.com/wheelmq/wheelmq/store/timer"
)

// browsedRepair looks in the log for the far entries that damage has taken of seconds which are read
// although their hour cannot be sorted.
type browsedRepair struct {
	logSearch
	seconds []*second
	between []wheel.Between
	have    map[keptEntry]bool
	found   []foundEntry
}

// keptEntry is an entry of a second: a cancel may be in two.
type keptEntry struct{ second, logOffset int64 }

// foundEntry is one that a second has lost.
type foundEntry struct {
	sec  *second
	item wheel.Item
}

// repairBrowsed is repairSorted for seconds that are read in one go. The caller holds the lock.
func (o *loader) repairBrowsed(l *line, seconds []*second, between []wheel.Between) {
	r := &browsedRepair{logSearch: o.searchFor(l), between: between, have: make(map[keptEntry]bool)}
	for _, sec := range seconds {
		if sec == nil {
			continue
		}
		sec.repairing = true
		r.seconds = append(r.seconds, sec)
		for i := range sec.entries {
			r.have[keptEntry{sec.number, sec.entries[i].logOffset}] = true
		}
		for i := range sec.later {
			r.have[keptEntry{sec.number, sec.later[i].LogOffset}] = true
		}
	}
	if len(r.seconds) > 0 {
		o.startRepair(r)
	}
}

func (r *browsedRepair) look() {
	for _, b := range r.between {
		if !r.stopped() {
			r.o.records.eachQueued(b.After+1, b.Before, never, r.visit)
		}
	}
}

func (r *browsedRepair) visit(item *wheel.Item, p *pendingRecord) (more bool) {
	if !r.locked {
		r.o.state.mu.Lock()
		defer r.o.state.mu.Unlock()
	}
	for _, sec := range r.seconds {
		at := keptEntry{sec.number, item.LogOffset}
		if r.have[at] || !r.o.state.belongs(r.line, sec, p) {
			continue
		}
		if kept := r.o.records.copied(item); kept.Record != nil {
			r.have[at] = true
			r.found = append(r.found, foundEntry{sec, kept})
		}
	}
	return r.locked || !r.stopped()
}

// end is that of a sortedRepair. The caller holds the lock.
func (r *browsedRepair) end() {
	if r.over() {
		return
	}
	for i := range r.found {
		r.take(r.found[i].sec, &r.found[i].item)
	}
	for _, sec := range r.seconds {
		sec.repairing = false
	}
	r.o.logger.WithFields(logrus.Fields{"line": r.line.name, "second": r.seconds[0].number, "inTheLog": len(r.found)}).
		Warn("what a damaged file of timers had that could not be sorted is taken out of the log, as far as that has it")
}

// copied is an item with its record: the log need not be kept for it.
func (r *records) copied(item *wheel.Item) wheel.Item {
	kept, at := *item, item.LogOffset
	if item.Flags&wheel.CancelRef != 0 {
		at -= refOffset
	}
	slice, err := r.log.Record(at, item.Size)
	if err != nil {
		r.unread(at, err)
		return kept
	}
	defer slice.Release()
	kept.Record = slices.Clone(slice.Bytes)
	return kept
}
