package longpoll

import (
	"fmt"

	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/metrics"
)

func (s *Service) register() error {
	if s.opts.Health != nil {
		s.opts.Health.Register("longpoll", s.check)
	}
	return metrics.Register(s.opts.Metrics, "longpoll",
		metrics.Gauge("wheelmq_longpoll_waiters", "Pulls held until a record arrives.", s.Waiting),
		metrics.Counter("wheelmq_longpoll_woken_total", "Held pulls resumed by an arrival.", s.woken.Load),
		metrics.Counter("wheelmq_longpoll_timed_out_total", "Held pulls resumed at their deadline.", s.timedOut.Load),
		metrics.Counter("wheelmq_longpoll_dropped_total", "Held pulls whose connection closed.", s.dropped.Load),
	)
}

func (s *Service) check() health.Result {
	if s.Full() {
		return health.Result{State: health.Degraded, Reason: fmt.Sprintf(
			"%d pulls are held, the most allowed: further ones are answered without waiting", s.Waiting())}
	}
	return health.Result{State: health.Up}
}
