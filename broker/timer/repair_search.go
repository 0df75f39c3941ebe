package timer

import (
	"runtime/debug"

	wheel "github.com/wheelmq/wheelmq/store/timer"
)

// repair looks in the log for far entries that damage has taken, and puts what it found into their seconds.
type repair interface {
	look()
	end() // the caller holds the lock
}

// startRepair begins a repair. It may take a look through all of the log that there is, during which others are
// delivered; until it is done its seconds are not, so that a crash does not end them. With exact instants
// asked for it is done before anything is delivered. The caller holds the lock.
func (o *loader) startRepair(r repair) {
	o.repairs++
	if o.inOrder {
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

// logSearch is what every repair has.
type logSearch struct {
	o      *loader
	line   *line
	locked bool // by one who holds the lock all the time
}

func (o *loader) searchFor(l *line) logSearch { return logSearch{o: o, line: l, locked: o.inOrder} }

func (r *logSearch) stopped() bool { return r.o.ctx.Err() != nil }

// over counts the search as ended, and tells whether it was a close that ended it: its seconds stay open
// then, and the next start reads them again. The caller holds the lock.
func (r *logSearch) over() (cut bool) {
	r.o.repairs--
	return !r.locked && r.stopped()
}

// take puts an entry that was found into its second. The caller holds the lock.
func (r *logSearch) take(sec *second, item *wheel.Item) {
	before := sec.left
	r.o.records.take(sec, item)
	if !sec.loading {
		r.o.state.loaded += sec.left - before
	}
}
