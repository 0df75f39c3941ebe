package pop

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker/redeliver"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/metrics"
)

// counts are the figures that are shown.
type counts struct {
	lateness prometheus.Histogram
	latency  prometheus.Histogram
	lost     atomic.Int64
	refusals atomic.Int64 // of copies, in a row
	blocked  atomic.Pointer[string]
}

func (c *counts) revived(lateMs int64) {
	c.lateness.Observe(float64(max(0, lateMs)) / 1000)
	if c.refusals.Load() > 0 {
		c.refusals.Store(0)
		c.blocked.Store(nil)
	}
}

func (c *counts) acked(ms int64, n int) {
	for range n {
		c.latency.Observe(float64(max(0, ms)) / 1000)
	}
}

func (s *Service) register() error {
	s.counts.latency = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "wheelmq_pop_ack_latency_seconds", Help: "From a pop to the acknowledgement of its message.",
		Buckets: []float64{.001, .005, .01, .05, .1, .5, 1, 5, 10, 30, 60, 300},
	})
	s.counts.lateness = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "wheelmq_pop_revive_lateness_seconds", Help: "From the instant when a popped message is visible again to its copy in the retry topic.",
		Buckets: []float64{.001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 60},
	})
	if s.opts.Health != nil {
		s.opts.Health.Register("pop", s.check)
	}
	return metrics.Register(s.opts.Metrics, "pop", s.counts.lateness, s.counts.latency)
}

// lost notes a message that nobody will ever consume.
func (s *Service) lost(r *revival, err error) {
	if n := s.counts.lost.Add(1); n&(n-1) == 0 {
		s.opts.Logger.WithError(err).WithFields(logrus.Fields{
			"topic": r.w.key.Topic, "group": r.w.key.Group, "queueId": r.w.key.QueueID, "offset": r.offset, "messages": n,
		}).Error("a popped message was not acknowledged in time, and cannot be read any more: it is lost")
	}
}

// refused puts off what could not be stored.
func (s *Service) refused(r *revival, err error) {
	n := int(s.counts.refusals.Add(1))
	reason := err.Error()
	s.counts.blocked.Store(&reason)
	if n == 1 {
		s.opts.Logger.WithError(err).WithField("group", r.w.key.Group).Error("popped messages cannot be brought back: it is tried again")
	}
	s.look(task{due: s.opts.Store.NowMillis() + redeliver.Backoff(n/batchSize+1), window: r.w.id, first: r.offset, n: 1})
}

// deadLetters tells whether the broker itself ends a message's deliveries.
func (s *Service) deadLetters() bool { return s.opts.Differences.Use(difference.PopDeadLetters) }

func (s *Service) check() health.Result {
	if reason := s.counts.blocked.Load(); reason != nil {
		return health.Result{State: health.Degraded, Reason: "popped messages cannot be brought back: " + *reason}
	}
	if err := s.journal.Trouble(); err != nil {
		return health.Result{State: health.Degraded, Reason: "what is in flight to pop consumers cannot be written down: " + err.Error()}
	}
	if s.damage != "" {
		return health.Result{State: health.Degraded, Reason: s.damage}
	}
	return health.Result{State: health.Up}
}
