package timer

import "sync/atomic"

// pin is from where on the log must be kept: for what pends, and for what the last checkpoint says
// that pends.
type pin struct {
	state   *state
	intake  *intake
	enabled bool // timerWheelEnable

	from atomic.Int64 // log offset; never: nothing is needed. It needs no lock.

	saved   int64 // log offset from which on the last checkpoint needs the log
	now     int64 // and from which on what pends does
	notedAt int64 // progress at which that was looked up
}

func (p *pin) init() {
	p.saved, p.now, p.notedAt = never, never, -1
	p.from.Store(never)
}

// savedFrom takes in from where on a new checkpoint needs the log.
func (p *pin) savedFrom(commitLogOffset int64) {
	p.saved = commitLogOffset
	p.note()
}

// note tells the log's keeper what is needed, by now or by the last checkpoint.
func (p *pin) note() {
	if p.state.progress == p.notedAt && p.from.Load() == min(p.saved, p.now) {
		return
	}
	p.notedAt, p.now = p.state.progress, p.needed()
	p.from.Store(min(p.saved, p.now))
}

// needed is the log offset from which on the log is needed for what pends now; never: not at all.
func (p *pin) needed() int64 {
	oldest := never
	for _, l := range p.state.lines {
		if at, ok := l.t.OldestReference(); ok {
			oldest = min(oldest, at)
		}
	}
	oldest = min(oldest, p.intake.oldest())
	if p.enabled {
		oldest = min(oldest, p.state.copiesFrom())
	}
	return oldest
}

// Pinned is the log offset of the first record that is needed from the log, and false when none
// is. The log must be kept from there on.
func (s *Service) Pinned() (commitLogOffset int64, pending bool) {
	at := s.pin.from.Load()
	return at, at != never
}
