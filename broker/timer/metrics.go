package timer

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/wheelmq/wheelmq/metrics"
)

// register makes the service's metrics and its health check. Names of the real broker are kept
// where it has the same figure.
func (s *Service) register() error {
	late := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "wheelmq_timer_delivery_latency", Help: "Seconds between a timer message's due instant and its delivery.",
		Buckets: []float64{0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5, 30, 300},
	})
	s.delivery.lateness = late
	if s.opts.Health != nil {
		s.opts.Health.Register("timers", s.check)
	}
	status := metrics.Flag("rocketmq_timer_service_status", "1 while timer messages are delivered.", s.running)
	return metrics.Register(s.opts.Metrics, "timer", append(s.counters(), status, late, collector{&s.lookout})...)
}

// gauge is a figure of the service that goes up and down.
type gauge struct {
	desc  *prometheus.Desc
	value func(f *figures) int64
}

var gauges = []gauge{
	newStoredGauge("rocketmq_timer_enqueue_lag", "Messages of the timer queue that are not taken in.", func(f *figures) int64 { return f.untaken }),
	newStoredGauge("rocketmq_timer_enqueue_latency_milliseconds", "How long the first of them has waited.", func(f *figures) int64 { return f.taking }),
	newStoredGauge("rocketmq_timer_dequeue_lag", "Timer messages past due and not delivered.", func(f *figures) int64 { return f.overdue }),
	newStoredGauge("rocketmq_timer_dequeue_latency_milliseconds", "By how much the first of them is late.", func(f *figures) int64 { return f.progress.BehindMs }),
	newGauge("wheelmq_timer_loaded", "Timer messages in memory: what is due within seconds.", func(f *figures) int64 { return f.inMemory }),
	newGauge("wheelmq_timer_waiting", "Due timer messages whose topic refuses them.", func(f *figures) int64 { return f.waiting }),
	newGauge("wheelmq_timer_near_entries", "Timer messages and cancels that need the CommitLog.", func(f *figures) int64 { return f.stats.Near }),
	newGauge("wheelmq_timer_far_entries", "Timer messages and cancels in files of their own.", func(f *figures) int64 { return f.stats.Far }),
	newGauge("wheelmq_timer_near_bytes", "Bytes of the TimerLogs.", func(f *figures) int64 { return f.stats.NearBytes }),
	newGauge("wheelmq_timer_far_bytes", "Bytes of the files of far timers.", func(f *figures) int64 { return f.stats.FarBytes }),
	newGauge("wheelmq_timer_files", "Files of the timers.", func(f *figures) int64 { return int64(f.stats.Files) }),
	newGauge("wheelmq_timer_damaged", "Entries that were ever found missing: the files were damaged.", func(f *figures) int64 { return f.damaged }),
}

func newGauge(name, help string, value func(f *figures) int64) gauge {
	return gauge{prometheus.NewDesc(name, help, nil, nil), value}
}

// newStoredGauge is one with the labels by which RocketMQ tells stores apart.
func newStoredGauge(name, help string, value func(f *figures) int64) gauge {
	return gauge{prometheus.NewDesc(name, help, nil, prometheus.Labels{"storage_type": "local", "storage_medium": "disk"}), value}
}

var timingDesc = prometheus.NewDesc("rocketmq_timing_messages", "Timer messages that pend, by topic.", storedLabels, nil)

// collector collects the gauges, of one moment, and the pending messages of each topic. It does not
// wait for the driver.
type collector struct{ lookout *lookout }

// Describe implements prometheus.Collector.
func (c collector) Describe(ch chan<- *prometheus.Desc) {
	for i := range gauges {
		ch <- gauges[i].desc
	}
	for _, d := range [...]*prometheus.Desc{timingDesc, enqueuedDesc, dequeuedDesc, delayDesc} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c collector) Collect(ch chan<- prometheus.Metric) {
	f := c.lookout.figures()
	for i := range gauges {
		ch <- prometheus.MustNewConstMetric(gauges[i].desc, prometheus.GaugeValue, float64(gauges[i].value(f)))
	}
	for name, p := range f.topics {
		ch <- prometheus.MustNewConstMetric(timingDesc, prometheus.GaugeValue, float64(p.Messages), name, "local", "disk")
	}
	for name, flow := range f.flows {
		flow.collect(ch, name)
	}
}

func (s *Service) counters() []prometheus.Collector {
	return []prometheus.Collector{
		metrics.Counter("wheelmq_timer_delivered_total", "Timer messages delivered, parked or lost.", s.delivery.delivered.Load),
		metrics.Counter("wheelmq_timer_cancelled_total", "Timer messages that were cancelled.", s.delivery.cancelled.Load),
		metrics.Counter("wheelmq_timer_parked_total", "Timer messages that were parked.", s.parking.parked.Load),
		metrics.Counter("wheelmq_timer_unreadable_total", "Pending timer messages that could not be read.", s.records.unreadable.Load),
		metrics.Counter("wheelmq_timer_unread_total", "Records that a look at what pends could not read.", s.records.unreadByLooks.Load),
	}
}
