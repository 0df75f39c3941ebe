package timer

import (
	"fmt"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	wheel "github.com/wheelmq/wheelmq/store/timer"
)

// register makes the service's metrics and its health check. Names of the real broker are kept
// where it has the same figure.
func (s *Service) register() error {
	late := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "wheelmq_timer_delivery_latency", Help: "Seconds between a timer message's due instant and its delivery.",
		Buckets: []float64{0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5, 30, 300},
	})
	s.lateness = late
	if s.opts.Health != nil {
		s.opts.Health.Register("timers", s.check)
	}
	if s.opts.Metrics == nil {
		return nil
	}
	for _, c := range slices.Concat([]prometheus.Collector{late, timingMessages{s}}, s.gauges(), s.counters()) {
		if err := s.opts.Metrics.Register(c); err != nil {
			return fmt.Errorf("timer: %w", err)
		}
	}
	return nil
}

func (s *Service) gauges() (list []prometheus.Collector) {
	for _, m := range []struct {
		name, help string
		value      func() float64
	}{
		{"rocketmq_timer_enqueue_lag", "Messages of the timer queue that are not taken in.", s.locked(func() int64 { return s.untaken() })},
		{"rocketmq_timer_dequeue_latency", "Milliseconds by which the first due timer message is late.",
			func() float64 { return float64(s.Progress().BehindMs) }},
		{"wheelmq_timer_loaded", "Timer messages in memory: what is due within seconds.", s.locked(func() int64 { return int64(s.loaded + s.inFlight) })},
		{"wheelmq_timer_waiting", "Due timer messages whose topic refuses them.", s.locked(s.waiting)},
		{"wheelmq_timer_near_entries", "Timer messages and cancels that need the CommitLog.", s.stat(func(v *wheel.Stats) int64 { return v.Near })},
		{"wheelmq_timer_far_entries", "Timer messages and cancels in files of their own.", s.stat(func(v *wheel.Stats) int64 { return v.Far })},
		{"wheelmq_timer_near_bytes", "Bytes of the TimerLogs.", s.stat(func(v *wheel.Stats) int64 { return v.NearBytes })},
		{"wheelmq_timer_far_bytes", "Bytes of the files of far timers.", s.stat(func(v *wheel.Stats) int64 { return v.FarBytes })},
		{"wheelmq_timer_files", "Files of the timers.", s.stat(func(v *wheel.Stats) int64 { return int64(v.Files) })},
		{"wheelmq_timer_damaged", "Entries that were ever found missing: the files were damaged.", s.locked(func() int64 { return s.damagedThen + s.damage() })},
	} {
		list = append(list, prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: m.name, Help: m.help}, m.value))
	}
	return list
}

func (s *Service) counters() (list []prometheus.Collector) {
	for _, m := range []struct {
		name, help string
		value      func() int64
	}{
		{"rocketmq_timer_dequeue_total", "Timer messages delivered, parked or lost.", s.delivered.Load},
		{"wheelmq_timer_cancelled_total", "Timer messages that were cancelled.", s.cancelled.Load},
		{"wheelmq_timer_parked_total", "Timer messages that were parked.", s.parked.Load},
		{"wheelmq_timer_unreadable_total", "Pending timer messages that could not be read.", s.unreadable.Load},
		{"wheelmq_timer_unread_total", "Records that a look at what pends could not read.", s.unreadByLooks.Load},
	} {
		value := m.value
		list = append(list, prometheus.NewCounterFunc(prometheus.CounterOpts{Name: m.name, Help: m.help},
			func() float64 { return float64(value()) }))
	}
	return list
}

// locked is a figure that is looked up under the service's lock.
func (s *Service) locked(value func() int64) func() float64 {
	return func() float64 {
		s.mu.Lock()
		defer s.mu.Unlock()
		return float64(value())
	}
}

// stat is a figure of all lines together.
func (s *Service) stat(value func(v *wheel.Stats) int64) func() float64 {
	return s.locked(func() (n int64) {
		for _, l := range s.lines {
			stats := l.t.Stats()
			n += value(&stats)
		}
		return n
	})
}

// waiting is how many due messages wait for targets that refuse.
func (s *Service) waiting() (n int64) {
	for _, t := range s.held.order {
		n += int64(len(t.entries))
	}
	return n
}

var timingDesc = prometheus.NewDesc("rocketmq_timing_messages", "Timer messages that pend, by topic.", []string{"topic"}, nil)

// timingMessages collects the pending messages of each topic.
type timingMessages struct{ s *Service }

// Describe implements prometheus.Collector.
func (t timingMessages) Describe(ch chan<- *prometheus.Desc) { ch <- timingDesc }

// Collect implements prometheus.Collector.
func (t timingMessages) Collect(ch chan<- prometheus.Metric) {
	for name, p := range t.s.PendingOf() {
		ch <- prometheus.MustNewConstMetric(timingDesc, prometheus.GaugeValue, float64(p.Messages), name)
	}
}
