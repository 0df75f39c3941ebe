package timer

import "github.com/sirupsen/logrus"

// withheld is that a test withholds due messages. It belongs to the driver, but for why.
type withheld struct {
	stall  Stall // may be nil
	logger logrus.FieldLogger

	now  string // why this pass delivers nothing, or ""
	told bool   // this pass has told Stall that something was due
}

// why is why due messages are withheld, or "". It needs no lock.
func (w *withheld) why() string {
	if w.stall == nil {
		return ""
	}
	return w.stall.Stalled()
}

// check finds out whether the pass that begins withholds what is due, and says when that begins and
// ends.
func (w *withheld) check() {
	was := w.now
	w.now, w.told = w.why(), false
	switch {
	case was == "" && w.now != "":
		w.logger.WithField("why", w.now).Error("due timer messages are withheld")
	case was != "" && w.now == "":
		w.logger.Info("due timer messages are delivered again")
	}
}

// tell tells Stall, once in a pass, that something is due; now is message time.
func (w *withheld) tell(lines *lines, now int64) {
	for _, l := range lines {
		lineNow := l.now(now)
		for _, sec := range l.loaded {
			if sec.due() <= lineNow && !w.told {
				w.told = true
				w.stall.Withheld()
			}
		}
	}
}
