package store

import (
	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/clock"
)

// When a recovery says how far it is.
const (
	progressBytes   = 8 << 20 // of the log read between looks at the clock
	firstProgressMs = 1_000
	nextProgressMs  = 3_000
)

// progress says now and then how far a long recovery is.
type progress struct {
	log      logrus.FieldLogger
	clock    clock.Clock
	from, to int64 // what there is to read, offsets of the log
	look     int64 // where to look at the clock next, offset of the log
	due      int64 // of the next line, ms
}

func (s *Store) newProgress(from int64) *progress {
	return &progress{
		log: s.opts.Log, clock: s.opts.Clock, from: from, to: s.log.limit(),
		look: from, due: s.opts.Clock.NowMillis() + firstProgressMs,
	}
}

// at is told where the recovery reads.
func (p *progress) at(offset int64) {
	if offset < p.look {
		return
	}
	p.look = offset + progressBytes
	now := p.clock.NowMillis()
	if now < p.due {
		return
	}
	p.due = now + nextProgressMs
	p.log.WithFields(logrus.Fields{"offset": offset, "end": p.to, "percent": (offset - p.from) * 100 / (p.to - p.from)}).
		Info("recovering the CommitLog")
}
