package timer

import "github.com/wheelmq/wheelmq/message"

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
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.opts.Store.NowMillis()
	if lateMs = s.behind(now); lateMs == 0 {
		return 0, 0, ""
	}
	messages = s.waiting()
	for _, l := range s.lines {
		messages += s.pastDue(l, s.nowOf(l, now))
	}
	switch {
	case !s.opts.Enabled:
		why = "timerWheelEnable is false"
	case s.stalled() != "":
		why = "withheld " + s.stalled()
	default:
		why = s.obstacle(now)
	}
	return messages, lateMs, why
}

// pastDue is how many entries of a line lie in seconds that are over, cancels included. The caller holds
// mu.
func (s *Service) pastDue(l *line, lineNow int64) (n int64) {
	for _, sec := range l.loaded {
		if sec.due() <= lineNow {
			n += int64(sec.left)
		}
	}
	at, ok := l.t.NextFrom(max(l.t.Hand(), l.loadedTo+1))
	for range overdueSeconds {
		if !ok || (at+1)*1000 > lineNow {
			break
		}
		n += l.t.Count(at)
		at, ok = l.t.NextFrom(at + 1)
	}
	return n
}

// waitsToBeTaken is how long the first record of the queue that is not taken in has been there, ms.
func (s *Service) waitsToBeTaken(now int64) int64 {
	q := s.opts.Log.Queue(topicTimer, 0)
	if q == nil || s.queueOffset >= q.Max() {
		return 0
	}
	unit, ok := q.Unit(s.queueOffset)
	if !ok {
		return 0
	}
	slice, err := s.opts.Log.Record(unit.CommitLogOffset, unit.Size)
	if err != nil {
		return 0
	}
	defer slice.Release()
	v, err := message.Parse(slice.Bytes)
	if err != nil {
		return 0
	}
	return max(0, now-v.StoreTimestamp)
}

// Signs changes while the driver lives: with every pass and every delivery.
func (s *Service) Signs() int64 { return s.passes.Load() + s.delivered.Load() }

// running tells whether what is due is delivered.
func (s *Service) running() bool {
	return s.opts.Enabled && s.stalled() == "" && (s.opts.Hangs == nil || !s.opts.Hangs())
}
