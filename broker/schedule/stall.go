package schedule

import "github.com/wheelmq/wheelmq/store"

// Stall withholds due messages while a test wants that. Its methods must be quick.
type Stall interface {
	// Stalled is why due messages are withheld, e.g. "by fault rule f1"; "": they are not.
	Stalled() string
	// Withheld is told that something was due.
	Withheld()
}

// Recheck looks at Options.Stall again.
func (s *Service) Recheck() { s.wake() }

// stalled is why due messages are withheld now, or "".
func (s *Service) stalled() string {
	if s.opts.Stall == nil {
		return ""
	}
	return s.opts.Stall.Stalled()
}

// checkStall finds out whether the pass that begins withholds what is due, and says when that
// begins and ends.
func (w *worker) checkStall() {
	was := w.stall
	w.stall, w.withheld = w.s.stalled(), false
	switch {
	case was == "" && w.stall != "":
		w.s.opts.Wheel.WithField("why", w.stall).Error("due messages are withheld")
	case was != "" && w.stall == "":
		w.s.opts.Wheel.Info("due messages are delivered again")
	}
}

// withhold is when to look again at a level from which nothing may go, ms. What is due is told
// to Stall, once in a pass.
func (w *worker) withhold(l *level, q *store.ConsumeQueue, now int64) (next int64) {
	if l.backlog.scanned < q.Max() {
		return now
	}
	if due := l.backlog.due(); due > now {
		return due
	}
	if !w.withheld {
		w.withheld = true
		w.s.opts.Stall.Withheld()
	}
	return never
}
