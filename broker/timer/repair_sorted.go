package timer

import (
	"slices"

	"github.com/sirupsen/logrus"

	wheel "github.com/wheelmq/wheelmq/store/timer"
)

// sortedRepair looks in the log for the far entries that a second in memory has lost to damage.
type sortedRepair struct {
	logSearch
	sec   *second
	hole  wheel.Hole
	have  map[int64]bool
	found []wheel.Item
}

// repairSorted begins to look for what is missing of a second that was read. The caller holds the lock.
func (o *loader) repairSorted(l *line, sec *second, hole wheel.Hole) {
	r := &sortedRepair{logSearch: o.searchFor(l), sec: sec, hole: hole, have: make(map[int64]bool, len(sec.entries))}
	for i := range sec.entries {
		r.have[sec.entries[i].logOffset] = true
	}
	sec.repairing = true
	o.startRepair(r)
}

// look looks where the entries lie if the file was in the order of the log, and then everywhere.
func (r *sortedRepair) look() {
	for _, b := range append(slices.Clone(r.hole.Likely), r.hole.Bounds) {
		if int64(len(r.found)) < r.hole.Count && !r.stopped() {
			r.o.records.eachQueued(b.After+1, b.Before, never, r.visit)
		}
	}
}

func (r *sortedRepair) visit(item *wheel.Item, p *pendingRecord) (more bool) {
	if !r.have[item.LogOffset] && r.belongs(p) {
		if kept := r.o.records.copied(item); kept.Record != nil {
			r.have[item.LogOffset] = true
			r.found = append(r.found, kept)
		}
	}
	return r.locked || !r.stopped()
}

func (r *sortedRepair) belongs(p *pendingRecord) bool {
	if p.cancels != nil && !r.locked {
		r.o.state.mu.Lock()
		defer r.o.state.mu.Unlock()
	}
	return r.o.state.belongs(r.line, r.sec, p)
}

// end puts what was found into the second. The caller holds the lock.
func (r *sortedRepair) end() {
	if r.over() {
		return
	}
	for i := range r.found {
		r.take(r.sec, &r.found[i])
	}
	r.sec.repairing = false
	r.o.logger.WithFields(logrus.Fields{"line": r.line.name, "second": r.sec.number, "missing": r.hole.Count, "inTheLog": len(r.found)}).
		Warn("what a damaged file of sorted timers had is taken out of the log, as far as that has it")
}
