package watchdog

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/wheelmq/wheelmq/metrics"
)

var (
	lateDesc = prometheus.NewDesc("rocketmq_delay_oldest_overdue_seconds",
		"By how much the first message that is past due is late, as the watchdog saw it last; 0: none is.", []string{"service"}, nil)
	overdueDesc = prometheus.NewDesc("rocketmq_delay_overdue_messages",
		"Messages past due and not delivered, as the watchdog saw it last.", []string{"service"}, nil)
	alarmDesc = prometheus.NewDesc("rocketmq_delay_overdue",
		"1 while a message is later than delayOverdueThreshold.", []string{"service"}, nil)
	hangsDesc = prometheus.NewDesc("rocketmq_delay_service_hangs",
		"1 while there are such messages and the service does nothing.", []string{"service"}, nil)
)

// collector shows what the watchdog knows: a scrape waits for no service.
type collector struct{ w *Watchdog }

// Describe implements prometheus.Collector.
func (c collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range [...]*prometheus.Desc{lateDesc, overdueDesc, alarmDesc, hangsDesc} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c collector) Collect(ch chan<- prometheus.Metric) {
	for _, one := range c.w.watches {
		v := one.verdict.Load()
		for _, m := range [...]struct {
			desc  *prometheus.Desc
			value float64
		}{
			{lateDesc, float64(v.lateMs) / 1000}, {overdueDesc, float64(v.messages)}, {alarmDesc, flag(v.late)}, {hangsDesc, flag(v.hangs())},
		} {
			ch <- prometheus.MustNewConstMetric(m.desc, prometheus.GaugeValue, m.value, one.Name)
		}
	}
}

func flag(set bool) float64 {
	if set {
		return 1
	}
	return 0
}

func (w *Watchdog) register() error {
	return metrics.Register(w.opts.Metrics, "watchdog", collector{w})
}
