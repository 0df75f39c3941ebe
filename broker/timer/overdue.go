package timer

const (
	// defaultOverdueMs is Options.OverdueMs when it is not given.
	defaultOverdueMs = 2000
	// overdueSeconds is how many seconds of the wheel are counted in one go: beyond that there are more
	// overdue messages than are counted.
	overdueSeconds = 3600
)

// Overdue is how many messages are past due and not delivered, by how much the first of them is, ms, and
// why, if that is known. It waits for the driver.
func (s *Service) Overdue() (messages, lateMs int64, why string) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	now := s.opts.Store.NowMillis()
	if lateMs = s.behind(now); lateMs == 0 {
		return 0, 0, ""
	}
	switch {
	case !s.opts.Enabled:
		why = "timerWheelEnable is false"
	case s.driver.withheld.why() != "":
		why = "withheld " + s.driver.withheld.why()
	default:
		why = s.obstacle(now)
	}
	return s.pastDue(now), lateMs, why
}

// behind is by how much the first message that is due is late, ms; 0: none is. The caller holds the lock.
func (s *Service) behind(now int64) (late int64) {
	for _, l := range s.state.lines {
		lineNow := l.now(now)
		if first := min(l.firstDue(), s.delivery.held.firstOf(l)); first < lineNow {
			late = max(late, lineNow-first)
		}
	}
	return late
}

// pastDue is how many entries lie in seconds that are over, cancels included, or wait for a target that
// refuses. The caller holds the lock.
func (s *Service) pastDue(now int64) (n int64) {
	n = s.delivery.held.waiting()
	for _, l := range s.state.lines {
		n += l.pastDue(l.now(now))
	}
	return n
}

// firstDue is when the first entry of a line is due, or its second over when it is not in memory, ms;
// never: there is none.
func (l *line) firstDue() int64 {
	first := never
	for _, sec := range l.loaded {
		first = min(first, sec.due())
	}
	if number, ok := l.next(); ok {
		first = min(first, (number+1)*1000)
	}
	return first
}

// pastDue is how many entries of a line lie in seconds that are over, cancels included.
func (l *line) pastDue(lineNow int64) (n int64) {
	for _, sec := range l.loaded {
		if sec.due() <= lineNow {
			n += int64(sec.left)
		}
	}
	at, ok := l.next()
	for range overdueSeconds {
		if !ok || (at+1)*1000 > lineNow {
			break
		}
		n += l.t.Count(at)
		at, ok = l.t.NextFrom(at + 1)
	}
	return n
}

// Signs changes while the driver lives: with every pass and every delivery.
func (s *Service) Signs() int64 { return s.driver.passes.Load() + s.delivery.delivered.Load() }

// running tells whether what is due is delivered.
func (s *Service) running() bool {
	return s.opts.Enabled && s.driver.withheld.why() == "" && (s.opts.Hangs == nil || !s.opts.Hangs())
}
