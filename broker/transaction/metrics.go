package transaction

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/metrics"
)

// topicCounts counts the transactions of one topic.
type topicCounts struct {
	open, commits, rollbacks, givenUp atomic.Int64

	latency prometheus.Observer // ms from a half message to its commit
}

// counts are the figures that are shown.
type counts struct {
	asked      atomic.Int64
	unreadable atomic.Int64
	refused    atomic.Int64             // moves to TRANS_CHECK_MAX_TIME_TOPIC
	latency    *prometheus.HistogramVec // ms, by topic

	mu     sync.RWMutex // guards topics
	topics map[string]*topicCounts
}

// init makes the counts ready: a start counts what is open before there are metrics of it.
func (c *counts) init() {
	c.topics = make(map[string]*topicCounts)
	c.latency = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "rocketmq_finish_message_latency_milliseconds", Help: "From a half message to its commit.",
		Buckets: []float64{5, 60, 600, 3600, 43_200, 86_400},
	}, []string{"topic"})
}

// of returns a topic's counts.
func (c *counts) of(topic []byte) *topicCounts {
	c.mu.RLock()
	t := c.topics[string(topic)]
	c.mu.RUnlock()
	if t != nil {
		return t
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if t = c.topics[string(topic)]; t == nil {
		t = &topicCounts{latency: c.latency.WithLabelValues(string(topic))}
		c.topics[string(topic)] = t
	}
	return t
}

// Prepared counts a half message that was stored for a topic.
func (s *Service) Prepared(topic []byte) { s.counts.of(topic).open.Add(1) }

// register makes the service's metrics and its health check. Names of the real broker are kept where
// it has the same figure.
func (s *Service) register() error {
	if s.opts.Health != nil {
		s.opts.Health.Register("transactions", s.check)
	}
	return metrics.Register(s.opts.Metrics, "transaction",
		s.counts.latency, perTopic{&s.counts},
		metrics.Gauge("wheelmq_transaction_open", "Half messages that are neither committed nor rolled back.", s.Open),
		metrics.Counter("wheelmq_transaction_checks_total", "Questions to producers whether a transaction is committed.", s.counts.asked.Load),
		metrics.Counter("wheelmq_transaction_unreadable_total", "Half messages and op records that could not be read.", s.counts.unreadable.Load),
	)
}

// The figures of each topic.
var (
	halfDesc     = prometheus.NewDesc("rocketmq_half_messages", "Half messages that are neither committed nor rolled back.", []string{"topic"}, nil)
	commitDesc   = prometheus.NewDesc("rocketmq_commit_messages_total", "Transactions committed.", []string{"topic"}, nil)
	rollbackDesc = prometheus.NewDesc("rocketmq_rollback_messages_total", "Transactions rolled back.", []string{"topic"}, nil)
	givenUpDesc  = prometheus.NewDesc("wheelmq_transaction_given_up_total", "Transactions moved to TRANS_CHECK_MAX_TIME_TOPIC.", []string{"topic"}, nil)
)

// perTopic collects them.
type perTopic struct{ c *counts }

// Describe implements prometheus.Collector.
func (p perTopic) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range [...]*prometheus.Desc{halfDesc, commitDesc, rollbackDesc, givenUpDesc} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (p perTopic) Collect(ch chan<- prometheus.Metric) {
	p.c.mu.RLock()
	defer p.c.mu.RUnlock()
	for name, t := range p.c.topics {
		ch <- prometheus.MustNewConstMetric(halfDesc, prometheus.GaugeValue, float64(t.open.Load()), name)
		for desc, value := range map[*prometheus.Desc]int64{
			commitDesc: t.commits.Load(), rollbackDesc: t.rollbacks.Load(), givenUpDesc: t.givenUp.Load(),
		} {
			ch <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(value), name)
		}
	}
}

// check is the service's health: degraded while what has ended cannot be written down, or when
// something is lost.
func (s *Service) check() health.Result {
	if reason := s.blocked.Load(); reason != nil {
		return health.Result{State: health.Degraded,
			Reason: fmt.Sprintf("the ends of transactions cannot be written down, after a crash producers are asked again: %s", *reason)}
	}
	if n := s.counts.unreadable.Load(); n > 0 {
		return health.Result{State: health.Degraded, Reason: fmt.Sprintf("%d records of transactions could not be read", n)}
	}
	return health.Result{State: health.Up}
}
