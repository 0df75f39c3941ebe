package client

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/metrics"
)

// register shows who is there.
func (r *Registry) register() error {
	if r.opts.Health != nil {
		r.opts.Health.Register("clients", func() health.Result { return health.Result{State: health.Up} })
	}
	return metrics.Register(r.opts.Metrics, "client",
		connections{r},
		r.gauge("wheelmq_consumer_groups", "Consumer groups with a live member.", func() int { return len(r.consumers) }),
		r.gauge("wheelmq_consumers", "Live members of consumer groups.", r.countConsumers),
		r.gauge("wheelmq_producers", "Live members of producer groups.", r.countProducers),
		metrics.Counter("wheelmq_subscription_conflicts_total", "Pairs of different subscriptions that members of one group were found to have.",
			r.conflicts.Load),
		metrics.Gauge("wheelmq_client_calls_waiting", "Requests of the broker to clients whose answers it waits for.", r.calls.waiting),
	)
}

// gauge counts under r.mu.
func (r *Registry) gauge(name, help string, count func() int) prometheus.Collector {
	return metrics.Gauge(name, help, func() int {
		r.mu.RLock()
		defer r.mu.RUnlock()
		return count()
	})
}

// countConsumers counts the members of consumer groups. r.mu is held.
func (r *Registry) countConsumers() (n int) {
	for _, group := range r.consumers {
		n += len(group.members)
	}
	return n
}

// countProducers counts the members of producer groups. r.mu is held.
func (r *Registry) countProducers() (n int) {
	for _, members := range r.producers {
		n += len(members)
	}
	return n
}
