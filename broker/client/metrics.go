package client

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wheelmq/wheelmq/health"
)

func (r *Registry) register() error {
	if r.opts.Health != nil {
		r.opts.Health.Register("clients", func() health.Result { return health.Result{State: health.Up} })
	}
	if r.opts.Metrics == nil {
		return nil
	}
	gauge := func(name, help string, count func() int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 {
			r.mu.RLock()
			defer r.mu.RUnlock()
			return float64(count())
		})
	}
	for _, c := range []prometheus.Collector{
		connections{r},
		gauge("wheelmq_consumer_groups", "Consumer groups with a live member.", func() int { return len(r.consumers) }),
		gauge("wheelmq_consumers", "Live members of consumer groups.", func() int {
			n := 0
			for _, group := range r.consumers {
				n += len(group.members)
			}
			return n
		}),
		gauge("wheelmq_producers", "Live members of producer groups.", func() int {
			n := 0
			for _, members := range r.producers {
				n += len(members)
			}
			return n
		}),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "wheelmq_subscription_conflicts_total", Help: "Pairs of different subscriptions that members of one group were found to have.",
		}, func() float64 { return float64(r.conflicts.Load()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "wheelmq_client_calls_waiting", Help: "Requests of the broker to clients whose answers it waits for.",
		}, func() float64 { return float64(r.calls.waiting()) }),
	} {
		if err := r.opts.Metrics.Register(c); err != nil {
			return fmt.Errorf("client: register metrics: %w", err)
		}
	}
	return nil
}
