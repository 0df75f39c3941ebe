package broker

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wheelmq/wheelmq/message"
)

// registerStorage shows of the store what the real broker shows, by its names and labels.
func (b *Broker) registerStorage(registry prometheus.Registerer) error {
	s := b.store
	for _, m := range []struct {
		name, help string
		value      func() float64
	}{
		{"size_bytes", "Bytes of the CommitLog.", func() float64 { return float64(s.MaxCommitLogOffset() - s.MinCommitLogOffset()) }},
		{"flush_behind_bytes", "Bytes of the CommitLog that are not durable yet.", func() float64 { return float64(s.Stats().DirtyBytes) }},
		{"dispatch_behind_bytes", "Bytes of the CommitLog that consumers cannot read yet.", func() float64 { return float64(b.dispatchBehind()) }},
		{"message_reserve_time_milliseconds", "Age of the oldest message.", func() float64 { return float64(b.oldestAge()) }},
	} {
		gauge := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "rocketmq_storage_" + m.name, Help: m.help, ConstLabels: prometheus.Labels{"storage_type": "local", "storage_medium": "disk"},
		}, m.value)
		if err := registry.Register(gauge); err != nil {
			return fmt.Errorf("broker: register metrics: %w", err)
		}
	}
	return nil
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
