package broker

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/wheelmq/wheelmq/message"
)

// storageMetrics show of the store what the real broker shows, by its names and labels.
func (b *Broker) storageMetrics() (list []prometheus.Collector) {
	s := b.store
	for _, m := range []struct {
		name, help string
		value      func() int64
	}{
		{"size_bytes", "Bytes of the CommitLog.", func() int64 { return s.MaxCommitLogOffset() - s.MinCommitLogOffset() }},
		{"flush_behind_bytes", "Bytes of the CommitLog that are not durable yet.", func() int64 { return s.Stats().DirtyBytes }},
		{"dispatch_behind_bytes", "Bytes of the CommitLog that consumers cannot read yet.", b.dispatchBehind},
		{"message_reserve_time_milliseconds", "Age of the oldest message.", b.oldestAge},
	} {
		list = append(list, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "rocketmq_storage_" + m.name, Help: m.help, ConstLabels: prometheus.Labels{"storage_type": "local", "storage_medium": "disk"},
		}, func() float64 { return float64(m.value()) }))
	}
	return list
}

// oldestAge is how long ago the first record of the log was stored, ms; 0 in an empty log.
func (b *Broker) oldestAge() int64 {
	first := b.store.MinCommitLogOffset()
	if first >= b.store.MaxCommitLogOffset() {
		return 0
	}
	slice, err := b.store.Record(first, 0)
	if err != nil {
		return 0
	}
	defer slice.Release()
	v, err := message.Parse(slice.Bytes)
	if err != nil {
		return 0
	}
	return max(0, b.opts.Store.NowMillis()-v.StoreTimestamp)
}
