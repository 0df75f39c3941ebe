package pop

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker/redeliver"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/health"
)

// counts are the figures that are shown.
type counts struct {
	lateness prometheus.Histogram
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

func (s *Service) register() error {
	s.counts.lateness = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "wheelmq_pop_revive_lateness_seconds", Help: "From the instant when a popped message is visible again to its copy in the retry topic.",
		Buckets: []float64{.001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 60},
	})
	if s.opts.Health != nil {
		s.opts.Health.Register("pop", s.check)
	}
	if s.opts.Metrics == nil {
		return nil
	}
	return s.opts.Metrics.Register(s.counts.lateness)
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
	return health.Result{State: health.Up}
}

// InFlight is how many messages of a stored topic are in flight to a group.
func (s *Service) InFlight(group, topic string) (n int64) {
	now := s.opts.Store.NowMillis()
	s.Each(func(i Info) {
		if i.Key.Group == group && i.Key.Topic == topic {
			n += i.InFlight
		}
	}, now)
	return n
}

// Info is what there is to know of a window.
type Info struct {
	Key      Key
	Cursor   int64
	InFlight int64
}

// Each visits the windows.
func (s *Service) Each(visit func(Info), now int64) {
	s.mu.RLock()
	windows := make([]*Window, 0, len(s.windows))
	for _, w := range s.windows {
		windows = append(windows, w)
	}
	s.mu.RUnlock()
	for _, w := range windows {
		visit(w.info(now))
	}
}

func (w *Window) info(now int64) Info {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := Info{Key: w.key, Cursor: w.cursor, InFlight: w.held.n}
	if w.block != nil {
		i.InFlight += w.block.inFlight(now)
	}
	return i
}
