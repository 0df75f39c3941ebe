package schedule

import (
	"fmt"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// register makes the service's metrics and its health check.
func (s *Service) register() error {
	late := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "rocketmq_delay_delivery_latency", Help: "Seconds between a delayed message's due instant and its delivery.",
		Buckets: []float64{0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5, 30, 300},
	}, []string{"level"})
	for _, l := range s.levels {
		l.lateness = late.WithLabelValues(strconv.FormatInt(l.number, 10))
	}
	if s.opts.Health != nil {
		s.opts.Health.Register("schedule", s.check)
	}
	if s.opts.Metrics == nil {
		return nil
	}
	status := func() float64 {
		if s.running() {
			return 1
		}
		return 0
	}
	collectors := []prometheus.Collector{
		late, topicsCollector{s},
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "rocketmq_schedule_service_status", Help: "1 while delayed messages are delivered.",
		}, status),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "rocketmq_delay_delivered_total", Help: "Delayed messages delivered or parked.",
		}, func() float64 { return float64(s.delivered.Load()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "rocketmq_delay_unreadable_total", Help: "Pending delayed messages that could not be read.",
		}, func() float64 { return float64(s.unreadable.Load()) }),
	}
	for _, l := range s.levels {
		queue := prometheus.Labels{"queue": strconv.Itoa(int(l.queueID))}
		collectors = append(collectors,
			prometheus.NewGaugeFunc(prometheus.GaugeOpts{
				Name: "rocketmq_delay_queue_lag", Help: "Delayed messages past due and not delivered.", ConstLabels: queue,
			}, func() float64 { n, _ := s.lag(l); return float64(n) }),
			prometheus.NewGaugeFunc(prometheus.GaugeOpts{
				Name: "rocketmq_delay_pending", Help: "Delayed messages not delivered.", ConstLabels: queue,
			}, func() float64 { return float64(s.pending(l)) }))
	}
	for _, c := range collectors {
		if err := s.opts.Metrics.Register(c); err != nil {
			return fmt.Errorf("schedule: %w", err)
		}
	}
	return nil
}

var topicPendingDesc = prometheus.NewDesc("rocketmq_delay_topic_pending", "Messages of delay levels not delivered, by the topic that they are for.", []string{"topic"}, nil)

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
