package schedule

import (
	"fmt"

	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/store"
)

// note remembers why a level waits, for the health check, and logs it when it is new.
func (s *Service) note(l *level, err error) {
	s.mu.Lock()
	_, known := s.blocked[l.number]
	s.blocked[l.number] = err.Error()
	s.mu.Unlock()
	if !known {
		s.opts.Wheel.WithError(err).WithField("level", l.number).Warn("a delay level waits: its target refuses")
	}
}

func (s *Service) unblock(l *level) {
	s.mu.Lock()
	_, known := s.blocked[l.number]
	delete(s.blocked, l.number)
	s.mu.Unlock()
	if known {
		s.opts.Wheel.WithField("level", l.number).Info("a delay level goes on")
	}
}

// Delivered is how many messages came due since the start: delivered, parked or lost.
func (s *Service) Delivered() int64 { return s.delivered.Load() }

// LevelOffset is a level's progress, units of its queue: all below Delivered are delivered.
type LevelOffset struct{ Level, Delivered, Max int64 }

// Offsets returns the progress of every level that has had a message.
func (s *Service) Offsets() []LevelOffset {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []LevelOffset
	for _, l := range s.levels {
		if q := s.opts.Log.Queue(topicSchedule, l.queueID); q != nil {
			list = append(list, LevelOffset{Level: l.number, Delivered: l.backlog.lowest(), Max: q.Max()})
		}
	}
	return list
}

// Pinned is the log offset of the first pending record, and false when nothing pends. The log
// must be kept from there on.
func (s *Service) Pinned() (commitLogOffset int64, pending bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pinned()
}

// pending is how many messages of a level are not delivered.
func (s *Service) pending(l *level) int64 {
	q := s.opts.Log.Queue(topicSchedule, l.queueID)
	if q == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return l.backlog.count() + max(0, q.Max()-l.backlog.scanned)
}

// lag is how many messages of a level are past due, looked up by binary search in each run, and
// for how long the first of them has been, ms. What the driver has not looked at yet counts too.
func (s *Service) lag(l *level) (messages, overdue int64) {
	q := s.opts.Log.Queue(topicSchedule, l.queueID)
	if q == nil {
		return 0, 0
	}
	now := s.opts.Store.NowMillis()
	s.mu.Lock()
	defer s.mu.Unlock()
	add := func(from, to int64) {
		n, late := s.pastDue(l, q, from, to, now)
		messages, overdue = messages+n, max(overdue, late)
	}
	for _, r := range l.backlog.runs {
		add(r.done, r.end)
	}
	add(max(l.backlog.scanned, q.Min()), q.Max())
	return messages, overdue
}

// pastDue is how many units of a stretch in due order are past due, and the first by how much, ms.
func (s *Service) pastDue(l *level, q *store.ConsumeQueue, from, to, now int64) (messages, overdue int64) {
	lo, hi := from, to
	for lo < hi {
		mid := lo + (hi-lo)/2
		if u, ok := q.Unit(mid); ok && s.due(l, &u) <= now {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if u, ok := q.Unit(from); ok && lo > from {
		return lo - from, now - s.due(l, &u)
	}
	return 0, 0
}

// Overdue is how many messages of all levels are past due and not delivered, by how much the first of
// them is, ms, and why, if that is known.
func (s *Service) Overdue() (messages, lateMs int64, why string) {
	for _, l := range s.levels {
		n, late := s.lag(l)
		messages += n
		if late > lateMs {
			lateMs, why = late, ""
			if reason := s.why(l.number); reason != "" {
				why = fmt.Sprintf("level %d%s", l.number, reason)
			}
		}
	}
	switch {
	case !s.opts.Enabled:
		return messages, lateMs, "scheduleMessageEnable is false"
	case s.stalled() != "":
		return messages, lateMs, "withheld " + s.stalled()
	}
	return messages, lateMs, why
}

// Signs changes while the driver lives: with every pass and every delivery.
func (s *Service) Signs() int64 { return s.passes.Load() + s.delivered.Load() }

// running tells whether what is due is delivered.
func (s *Service) running() bool {
	return s.opts.Enabled && s.stalled() == "" && (s.opts.Hangs == nil || !s.opts.Hangs())
}

func (s *Service) check() health.Result {
	degraded := func(format string, args ...any) health.Result {
		return health.Result{State: health.Degraded, Reason: fmt.Sprintf(format, args...)}
	}
	if !s.opts.Enabled {
		if n, _, _ := s.Overdue(); n > 0 {
			return health.Result{State: health.Down, Reason: fmt.Sprintf(
				"scheduleMessageEnable is false: %d messages are past due and not delivered", n)}
		}
		return degraded("scheduleMessageEnable is false: delayed messages are refused and retries wait")
	}
	if why := s.stalled(); why != "" {
		return health.Result{State: health.Down, Reason: "due messages are withheld " + why + ": they are delivered when it is removed"}
	}
	if n := s.unreadable.Load(); n > 0 {
		return degraded("%d pending delayed messages could not be read", n)
	}
	for _, l := range s.levels {
		if n, overdue := s.lag(l); overdue > s.opts.OverdueMs {
			return degraded("delay level %d has %d messages past due%s", l.number, n, s.why(l.number))
		}
	}
	if err := s.file.failure(); err != nil {
		return degraded("the progress of the delay levels cannot be saved: %v", err)
	}
	return health.Result{State: health.Up}
}

func (s *Service) why(number int64) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if reason := s.blocked[number]; reason != "" {
		return ": " + reason
	}
	return ""
}
