package timer

// CountAt is how many entries are kept in the second of a TIMER_OUT_MS.
func (s *Service) CountAt(outMs int64) (n int64) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	for _, l := range s.state.lines {
		n += l.t.Count(outMs / 1000)
	}
	return n
}

// Progress is how far the service is.
type Progress struct {
	// ReadMs is the instant of message time up to which everything due is delivered, ms.
	ReadMs int64
	// QueueOffset is the next unit of the timer queue to be taken in, SavedOffset that of the last
	// checkpoint, Max the end of the queue.
	QueueOffset, SavedOffset, Max int64
	// BehindMs is by how much the first message that is due and not delivered is late, ms.
	BehindMs int64
	// Pending is how many messages wait; see Count.
	Pending int64
	// TakenIn and Due are how many came and went per second between the last two looks of the saver.
	TakenIn, Due float64
	// Saves is how many checkpoints were saved since the start, the last at SavedAtMs of message time.
	Saves, SavedAtMs int64
}

// Progress tells how far the service is, or was a moment ago: it does not wait for the driver.
func (s *Service) Progress() Progress { return s.lookout.figures().progress }

func (s *Service) progressAt(now int64) Progress {
	p := Progress{ReadMs: now, QueueOffset: s.state.queueOffset, SavedOffset: s.saver.savedOffset, BehindMs: s.behind(now),
		Pending: max(0, s.state.topics.total()) + s.intake.untaken(), TakenIn: s.rates.takenIn, Due: s.rates.due,
		Saves: s.saver.saves, SavedAtMs: s.saver.savedAt, Max: s.records.queueEnd()}
	p.ReadMs -= p.BehindMs
	return p
}

// TopicPending is what waits for one real topic.
type TopicPending struct {
	Messages    int64
	ChangedAtMs int64 // when the last one came since the start, ms of message time
}

// PendingOf lists how many messages pend by real topic, or did a moment ago, like Progress. The list
// is not to be changed.
func (s *Service) PendingOf() map[string]TopicPending { return s.lookout.figures().topics }

// distributionStep is how many seconds are counted before others may look at the service.
const distributionStep = 3600

// Distribution is how many entries are due between now and each of the given distances, s, and the
// one before it: n[0] in [0, within[0]), n[1] in [within[0], within[1]) …
func (s *Service) Distribution(within []int64) []int64 {
	counts := make([]int64, len(within))
	now := s.opts.Store.NowMillis()
	for _, l := range s.state.lines {
		begin := l.now(now) / 1000
		at := begin
		for i, distance := range within {
			for end := begin + distance; at < end; {
				step := min(end, at+distributionStep)
				counts[i] += s.countBetween(l, at, step)
				at = step
			}
		}
	}
	return counts
}

// countBetween counts the entries of the seconds [from, to).
func (s *Service) countBetween(l *line, from, to int64) (n int64) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	for at, ok := l.t.NextFrom(max(from, l.t.Hand())); ok && at < to; at, ok = l.t.NextFrom(at + 1) {
		n += l.t.Count(at)
	}
	return n
}
