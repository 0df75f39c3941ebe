package store

import (
	"fmt"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/clock"
)

// When an opening says how far it is.
const (
	progressBytes   = 8 << 20 // of the log read between looks at the clock
	firstProgressMs = 1_000
	nextProgressMs  = 3_000
)

// The steps of an opening that may take long.
const (
	stepLoad   = "opening the ConsumeQueues"
	stepCount  = "comparing the ConsumeQueues with the checkpoint"
	stepTrim   = "cutting the ConsumeQueues at the checkpoint"
	stepScan   = "recovering the CommitLog"
	stepCut    = "cutting the ConsumeQueues at the end of the CommitLog"
	stepIndex  = "opening the index"
	stepSettle = "making the ConsumeQueues durable"
)

// progress says which step an opening is at, and to the log now and then how far it is.
type progress struct {
	log   logrus.FieldLogger
	clock clock.Clock
	tell  func(step string) // told of each step, and again when there is something new; may be nil

	step string
	all  int64 // what the step has to do: queues, or bytes of the log
	due  int64 // of the next line, ms
}

func newProgress(opts *Options) *progress {
	return &progress{log: opts.Log, clock: opts.Clock, tell: opts.OnStep, due: opts.Clock.NowMillis() + firstProgressMs}
}

// begin begins a step.
func (p *progress) begin(step string, all int64) {
	p.step, p.all = step, all
	if p.tell != nil {
		p.tell(step)
	}
}

// at is told how much of the step is done.
func (p *progress) at(done int64) {
	now := p.clock.NowMillis()
	if now < p.due || p.all <= 0 {
		return
	}
	p.due = now + nextProgressMs
	percent := done * 100 / p.all
	p.log.WithFields(logrus.Fields{"done": done, "of": p.all, "percent": percent}).Info(p.step)
	if p.tell != nil {
		p.tell(fmt.Sprintf("%s, %d %%", p.step, percent))
	}
}

// scanned is progress through the log, which does not look at the clock for every record.
type scanned struct {
	*progress
	from, look int64 // where it began, and where to look at the clock next, offsets of the log
}

func (p *progress) scan(from, to int64) *scanned {
	p.begin(stepScan, to-from)
	return &scanned{p, from, from}
}

// reached is told where the recovery reads.
func (s *scanned) reached(offset int64) {
	if offset >= s.look {
		s.look = offset + progressBytes
		s.at(offset - s.from)
	}
}
