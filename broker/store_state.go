package broker

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/metrics"
)

// checkStore is the store's health: down while nothing can be written, degraded while clients'
// messages are refused or the log cannot shrink.
func (b *Broker) checkStore() health.Result {
	st := b.store.Stats()
	switch {
	case st.FlushError != nil:
		return health.Result{State: health.Down, Reason: st.FlushError.Error(), Restart: true}
	case st.DiskFull != "":
		return health.Result{State: health.Down, Reason: "sends are refused: " + st.DiskFull}
	case st.Pinned != nil:
		return health.Result{State: health.Degraded,
			Reason: fmt.Sprintf("log files are kept beyond their time, from offset %d on: %s", st.Pinned.CommitLogOffset, st.Pinned.What)}
	}
	return health.Result{State: health.Up}
}

// registerStoreMetrics shows the store's state. Names of the real broker are kept where it has
// the same figure.
func (b *Broker) registerStoreMetrics(registry prometheus.Registerer) error {
	s := b.store
	return metrics.Register(registry, "broker", append(b.storageMetrics(),
		metrics.Flag("wheelmq_store_writable", "0 after a failed flush, when nothing is accepted.", func() bool { return s.Writable() == nil }),
		metrics.Flag("wheelmq_store_disk_full", "1 while clients' messages are refused for want of space.",
			func() bool { return s.Stats().DiskFull != "" }),
		metrics.Gauge("wheelmq_store_disk_ratio", "Used part of the store's disk, 0 to 1.", func() float64 { return s.Stats().DiskRatio }),
		metrics.Gauge("wheelmq_store_reserve_bytes", "Space left for the broker's own records on a full disk, beside one log file.",
			func() int64 { return s.Stats().ReserveBytes }),
		metrics.Flag("wheelmq_store_pinned", "1 while a pending message keeps log files beyond their time.",
			func() bool { return s.Stats().Pinned != nil }),
		metrics.Gauge("wheelmq_store_mapped_files", "Files of the store that are mapped.", func() int { return s.Stats().MappedFiles }),
		metrics.Counter("wheelmq_store_syncs_total", "Syncs of the CommitLog to disk since the start, one system call each.",
			func() int64 { return s.Stats().Syncs }),
		metrics.Gauge("wheelmq_store_flush_timeouts", "Sends answered with FLUSH_DISK_TIMEOUT since the start.",
			func() int64 { return s.Stats().FlushTimeouts }),
	)...)
}
