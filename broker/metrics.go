package broker

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wheelmq/wheelmq/metrics"
)

// registerFigures shows what no service shows by itself, by the real broker's names.
func (b *Broker) registerFigures() error {
	return metrics.Register(b.opts.Metrics, "broker",
		metrics.Gauge("rocketmq_broker_permission", "brokerPermission: 2 to send, 4 to read, 6 for both.",
			func() int64 { return b.live.Get().BrokerPermission }),
		metrics.Gauge("rocketmq_topic_number", "Topics, system topics included.", func() int { return len(b.topics.All()) }),
		metrics.Gauge("rocketmq_consumer_group_number", "Subscription groups, the broker's own included.", func() int { return len(b.groups.All()) }),
		&lagCollector{lagOptions{Store: b.opts.Store, Offsets: b.offsets, Log: b.store, Popped: b.pops.Each, System: b.groups.System}},
		snapshot{b},
	)
}

// snapshotBounds are the distances, s, by which pending timers are counted.
var snapshotBounds = []int64{5, 60, 300, 900, 3600, 14400, 28800, 86400}

var snapshotDesc = prometheus.NewDesc("rocketmq_timer_message_snapshot",
	"Timer messages due within so many seconds and not within the bound before, cancels included.", []string{"timer_bound_s"},
	prometheus.Labels{"storage_type": "local", "storage_medium": "disk"})

// snapshot shows how the pending timers are spread over the next day.
type snapshot struct{ b *Broker }

// Describe implements prometheus.Collector.
func (s snapshot) Describe(ch chan<- *prometheus.Desc) { ch <- snapshotDesc }

// Collect implements prometheus.Collector.
func (s snapshot) Collect(ch chan<- prometheus.Metric) {
	for i, n := range s.b.timer.Distribution(snapshotBounds) {
		ch <- prometheus.MustNewConstMetric(snapshotDesc, prometheus.GaugeValue, float64(n), strconv.FormatInt(snapshotBounds[i], 10))
	}
}
