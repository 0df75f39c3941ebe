package longpoll

import (
	"fmt"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wheelmq/wheelmq/health"
)

func (s *Service) register() error {
	if s.opts.Health != nil {
		s.opts.Health.Register("longpoll", s.check)
	}
	if s.opts.Metrics == nil {
		return nil
	}
	count := func(name, help string, v *atomic.Int64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help},
			func() float64 { return float64(v.Load()) })
	}
	for _, c := range []prometheus.Collector{
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "wheelmq_longpoll_waiters", Help: "Pulls held until a record arrives."},
			func() float64 { return float64(s.Waiting()) }),
		count("wheelmq_longpoll_woken_total", "Held pulls resumed by an arrival.", &s.woken),
		count("wheelmq_longpoll_timed_out_total", "Held pulls resumed at their deadline.", &s.timedOut),
		count("wheelmq_longpoll_dropped_total", "Held pulls whose connection closed.", &s.dropped),
	} {
		if err := s.opts.Metrics.Register(c); err != nil {
			return fmt.Errorf("longpoll: register metrics: %w", err)
		}
	}
	return nil
}

func (s *Service) check() health.Result {
	if s.Full() {
		return health.Result{State: health.Degraded, Reason: fmt.Sprintf(
			"%d pulls are held, the most allowed: further ones are answered without waiting", s.Waiting())}
	}
	return health.Result{State: health.Up}
}
