package timer

// stalled is why due messages are withheld now, or "".
func (s *Service) stalled() string {
	if s.opts.Stall == nil {
		return ""
	}
	return s.opts.Stall.Stalled()
}

// checkStall finds out whether the pass that begins withholds what is due, and says when that
// begins and ends.
func (s *Service) checkStall() {
	w := &s.worker
	was := w.stall
	w.stall, w.withheld = s.stalled(), false
	switch {
	case was == "" && w.stall != "":
		s.opts.Logger.WithField("why", w.stall).Error("due timer messages are withheld")
	case was != "" && w.stall == "":
		s.opts.Logger.Info("due timer messages are delivered again")
	}
}

// withhold tells Stall, once in a pass, that something is due.
func (s *Service) withhold(now int64) {
	for _, l := range s.lines {
		lineNow := s.nowOf(l, now)
		for _, sec := range l.loaded {
			if sec.due() <= lineNow && !s.worker.withheld {
				s.worker.withheld = true
				s.opts.Stall.Withheld()
			}
		}
	}
}
