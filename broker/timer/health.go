package timer

import (
	"fmt"

	"github.com/wheelmq/wheelmq/health"
)

func (s *Service) check() health.Result {
	degraded := func(format string, args ...any) health.Result {
		return health.Result{State: health.Degraded, Reason: fmt.Sprintf(format, args...)}
	}
	if !s.opts.Enabled {
		switch p := s.Progress(); {
		case p.BehindMs > 0:
			return health.Result{State: health.Down, Reason: fmt.Sprintf(
				"timerWheelEnable is false: of %d pending timer messages the first is past due by %d ms", p.Pending, p.BehindMs)}
		case p.Pending > 0:
			return degraded("timerWheelEnable is false: %d pending timer messages are not delivered", p.Pending)
		}
		return health.Result{State: health.Up}
	}
	if why := s.driver.withheld.why(); why != "" {
		return health.Result{State: health.Down, Reason: "due timer messages are withheld " + why + ": they are delivered when it is removed"}
	}
	if reason := s.lookout.figures().trouble; reason != "" {
		return degraded("%s", reason)
	}
	if err := s.saver.failure(); err != nil {
		return degraded("the timers' checkpoint cannot be saved: after a crash a start takes longer: %v", err)
	}
	if n := s.records.unreadable.Load(); n > 0 {
		return degraded("%d pending timer messages could not be read and are lost", n)
	}
	return health.Result{State: health.Up}
}

// trouble is what is wrong with the messages that wait, or "". The caller holds the lock.
func (s *Service) trouble(now int64) string {
	if reason := s.obstacle(now); reason != "" {
		return reason
	}
	if late := s.behind(now); late > s.opts.OverdueMs {
		return fmt.Sprintf("timer messages are delivered %d ms late", late)
	}
	if reason := s.intake.aside.wait.blocked(); reason != "" {
		return fmt.Sprintf("%d timer messages that are due in hours or days wait to be taken in: %s", len(s.intake.aside.units), reason)
	}
	if n := s.state.damaged(); n > 0 {
		return fmt.Sprintf("%d pending timer messages are missing: the timers' files are damaged", n)
	}
	return ""
}

// obstacle is what keeps messages from being delivered, or "". The caller holds the lock.
func (s *Service) obstacle(now int64) string {
	if reason := s.intake.wait.blocked(); reason != "" {
		return fmt.Sprintf("%d timer messages wait to be taken in: %s", s.intake.untaken(), reason)
	}
	if reason := s.delivery.storing.blocked(); reason != "" {
		return fmt.Sprintf("timer messages are not delivered, by now %d ms late: %s", s.behind(now), reason)
	}
	for _, t := range s.delivery.held.order {
		if reason := t.blocked(); reason != "" {
			return fmt.Sprintf("%d due timer messages wait for topic %s, which refuses them: %s", len(t.entries), t.name, reason)
		}
	}
	for _, l := range s.state.lines {
		if l.blocked != "" {
			return "timer messages are not delivered: " + l.blocked
		}
		if l.jobError != nil {
			return fmt.Sprintf("far timers cannot be sorted, it is tried again: %v", l.jobError)
		}
	}
	return ""
}
