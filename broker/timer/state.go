package timer

import (
	"sync"

	"github.com/wheelmq/wheelmq/message"
)

// state is what waits, and what is known of it: the parts of a Service work on it together.
//
// Its lock is the one lock of all parts: who uses the state, or a part of the Service, holds mu, but
// for what is said to need no lock. It is let go of between batches, and while files are read that
// may be long, so that others have their turn.
type state struct {
	precisionMs int64 // timerPrecisionMs

	mu     sync.Mutex
	closed bool // nobody begins to look at what pends
	lines  lines
	topics topicCounts

	// queueOffset is the next unit of the timer queue to be taken in.
	queueOffset int64
	loaded      int // entries in memory that are not on their way
	// progress changes whenever there is something to save.
	progress int64
	// known were delivered before the start.
	known sources
	// superseding are not delivered: what removes them is in the log.
	superseding superseding
	moved       moved
	damage      damage
}

// copiesFrom is the log offset from which on a start must find the copies of messages that are still
// named as pending; never: there are none. A second is named until all of it is delivered.
func (s *state) copiesFrom() int64 {
	from := s.known.copiesFrom()
	for _, l := range s.lines {
		for _, sec := range l.loaded {
			if sec.begun {
				from = min(from, sec.from)
			}
		}
	}
	return from
}

// damage counts entries that were found missing.
type damage struct {
	since  int64 // since the start
	before int64 // by starts before this one, as far as a checkpoint told
}

// damaged is how many entries were found missing since the start.
func (s *state) damaged() (n int64) {
	for _, l := range s.lines {
		stats := l.t.Stats()
		n += stats.Damaged
	}
	return max(n, s.damage.since)
}

// without lets go of the lock while do runs.
func (s *state) without(do func()) {
	s.mu.Unlock()
	defer s.mu.Lock()
	do()
}

// giveWay lets go of the lock for a moment: whoever waits gets its turn.
func (s *state) giveWay() { s.without(func() {}) }

// belongs tells whether a record is kept in a second of a line.
func (s *state) belongs(l *line, sec *second, p *pendingRecord) bool {
	if p.supersedes != nil {
		return s.lines.of(message.Due{Wall: p.supersedes.Wall}) == l && p.supersedes.Second == sec.number
	}
	if p.cancels != nil {
		return p.names(sec.number, s.precisionMs) || s.moved.may(p, sec.number, l.wall)
	}
	return s.lines.of(p.due) == l && slotOf(p.due.Ms) == sec.number
}
