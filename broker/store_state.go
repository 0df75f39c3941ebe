package broker

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wheelmq/wheelmq/health"
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
	if registry == nil {
		return nil
	}
	s := b.store
	flag := func(set bool) float64 {
		if set {
			return 1
		}
		return 0
	}
	if err := b.registerStorage(registry); err != nil {
		return err
	}
	for _, m := range []struct {
		name, help string
		value      func() float64
	}{
		{"wheelmq_store_writable", "0 after a failed flush, when nothing is accepted.", func() float64 { return flag(s.Writable() == nil) }},
		{"wheelmq_store_disk_full", "1 while clients' messages are refused for want of space.", func() float64 { return flag(s.Stats().DiskFull != "") }},
		{"wheelmq_store_disk_ratio", "Used part of the store's disk, 0 to 1.", func() float64 { return s.Stats().DiskRatio }},
		{"wheelmq_store_reserve_bytes", "Space left for the broker's own records on a full disk, beside one log file.", func() float64 { return float64(s.Stats().ReserveBytes) }},
		{"wheelmq_store_pinned", "1 while a pending message keeps log files beyond their time.", func() float64 { return flag(s.Stats().Pinned != nil) }},
		{"wheelmq_store_mapped_files", "Files of the store that are mapped.", func() float64 { return float64(s.Stats().MappedFiles) }},
		{"wheelmq_store_syncs_total", "Syncs of the CommitLog to disk since the start, one system call each.", func() float64 { return float64(s.Stats().Syncs) }},
		{"wheelmq_store_flush_timeouts", "Sends answered with FLUSH_DISK_TIMEOUT since the start.", func() float64 { return float64(s.Stats().FlushTimeouts) }},
	} {
		gauge := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: m.name, Help: m.help}, m.value)
		if err := registry.Register(gauge); err != nil {
			return fmt.Errorf("broker: register metrics: %w", err)
		}
	}
	return nil
}
