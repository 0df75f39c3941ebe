package timer

import (
	"runtime/debug"
	"slices"

	"github.com/sirupsen/logrus"

	wheel "github.com/wheelmq/wheelmq/store/timer"
)

// sortedRepair looks in the log for the far entries that a second in memory has lost to damage.
type sortedRepair struct {
	o      *loader
	line   *line
	sec    *second
	hole   wheel.Hole
	locked bool // by one who holds the lock all the time
	have   map[int64]bool
	found  []wheel.Item
}

// repairSorted begins to look for what is missing of a second that was read. It may take a look through
// all of the log that there is, during which others are delivered; until it is done the second is not,
// so that a crash does not end it. With exact instants asked for it is done before anything is delivered.
// The caller holds the lock.
func (o *loader) repairSorted(l *line, sec *second, hole wheel.Hole) {
	r := &sortedRepair{o: o, line: l, sec: sec, hole: hole, locked: o.inOrder, have: make(map[int64]bool, len(sec.entries))}
	for i := range sec.entries {
		r.have[sec.entries[i].logOffset] = true
	}
	sec.repairing = true
	o.repairs++
	if r.locked {
		r.look()
		r.end()
		return
	}
	o.wg.Go(func() {
		debug.SetPanicOnFault(true)
		r.look()
		o.state.mu.Lock()
		r.end()
		o.state.mu.Unlock()
		o.wake()
	})
}

func (r *sortedRepair) stopped() bool { return r.o.ctx.Err() != nil }

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

// end puts what was found into the second. One whose search a close has ended stays open: the next start
// reads it again. The caller holds the lock.
func (r *sortedRepair) end() {
	o, sec := r.o, r.sec
	if o.repairs--; !r.locked && r.stopped() {
		return
	}
	before := sec.left
	for i := range r.found {
		o.records.take(sec, &r.found[i])
	}
	if !sec.loading {
		o.state.loaded += sec.left - before
	}
	sec.repairing = false
	o.logger.WithFields(logrus.Fields{"line": r.line.name, "second": sec.number, "missing": r.hole.Count, "inTheLog": len(r.found)}).
		Warn("what a damaged file of sorted timers had is taken out of the log, as far as that has it")
}
