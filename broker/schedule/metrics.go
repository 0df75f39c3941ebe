package schedule

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wheelmq/wheelmq/metrics"
)

// register makes the service's metrics and its health check.
func (s *Service) register() error {
	late := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "rocketmq_delay_delivery_latency", Help: "Seconds between a delayed message's due instant and its delivery.",
		Buckets: []float64{0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5, 30, 300},
	}, []string{"level"})
	collectors := []prometheus.Collector{
		late, topicsCollector{s},
		metrics.Flag("rocketmq_schedule_service_status", "1 while delayed messages are delivered.", s.running),
		metrics.Counter("rocketmq_delay_delivered_total", "Delayed messages delivered or parked.", s.delivered.Load),
		metrics.Counter("rocketmq_delay_unreadable_total", "Pending delayed messages that could not be read.", s.unreadable.Load),
	}
	for _, l := range s.levels {
		l.lateness = late.WithLabelValues(strconv.FormatInt(l.number, 10))
		collectors = append(collectors, s.ofLevel(l)...)
	}
	if s.opts.Health != nil {
		s.opts.Health.Register("schedule", s.check)
	}
	return metrics.Register(s.opts.Metrics, "schedule", collectors...)
}

// ofLevel are the figures of one delay level.
func (s *Service) ofLevel(l *level) []prometheus.Collector {
	queue := prometheus.Labels{"queue": strconv.Itoa(int(l.queueID))}
	return []prometheus.Collector{
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "rocketmq_delay_queue_lag", Help: "Delayed messages past due and not delivered.", ConstLabels: queue,
		}, func() float64 { n, _ := s.lag(l); return float64(n) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "rocketmq_delay_pending", Help: "Delayed messages not delivered.", ConstLabels: queue,
		}, func() float64 { return float64(s.pending(l)) }),
	}
}

var topicPendingDesc = prometheus.NewDesc("rocketmq_delay_topic_pending",
	"Messages of delay levels not delivered, by the topic that they are for.", []string{"topic"}, nil)

// topicsCollector shows what pends by real topic.
type topicsCollector struct{ s *Service }

// Describe implements prometheus.Collector.
func (c topicsCollector) Describe(ch chan<- *prometheus.Desc) { ch <- topicPendingDesc }

// Collect implements prometheus.Collector.
func (c topicsCollector) Collect(ch chan<- prometheus.Metric) {
	for name, n := range c.s.PendingOf() {
		ch <- prometheus.MustNewConstMetric(topicPendingDesc, prometheus.GaugeValue, float64(n), name)
	}
}
