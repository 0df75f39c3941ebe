package timer

import wheel "github.com/wheelmq/wheelmq/store/timer"

// figures are what metrics, health and tools show of the service, of one moment. They are not changed.
type figures struct {
	progress Progress
	untaken  int64
	inMemory int64
	waiting  int64 // due messages whose topic refuses them
	stats    wheel.Stats
	damaged  int64 // entries that were ever found missing
	topics   map[string]TopicPending
	flows    map[string]flow
	taking   int64  // how long the first message that is not taken in has waited, ms
	overdue  int64  // messages past due
	trouble  string // what is wrong with the messages that wait, or ""
}

// takeFigures looks everything up. The caller holds the lock.
func (s *Service) takeFigures() *figures {
	now := s.opts.Store.NowMillis()
	f := &figures{
		progress: s.progressAt(now), untaken: s.intake.untaken(), inMemory: int64(s.state.loaded + s.delivery.inFlight), waiting: s.delivery.held.waiting(),
		damaged: s.state.damage.before + s.state.damaged(), topics: s.state.topics.waiting(), flows: s.state.topics.flows(),
		taking: s.intake.waitingMs(now), overdue: s.pastDue(now), trouble: s.trouble(now),
	}
	for _, l := range s.state.lines {
		stats := l.t.Stats()
		f.stats.Near += stats.Near
		f.stats.Far += stats.Far
		f.stats.NearBytes += stats.NearBytes
		f.stats.FarBytes += stats.FarBytes
		f.stats.Files += stats.Files
	}
	return f
}
