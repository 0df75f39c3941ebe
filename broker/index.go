package broker

import (
	"fmt"

	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/metrics"
	"github.com/wheelmq/wheelmq/store"
)

// indexFarBehind is from where on queries by key do not see all that is stored, bytes.
const indexFarBehind = 64 << 20

// watchIndex shows how far the index follows the log, unless it is switched off.
func (b *Broker) watchIndex() error {
	if !b.opts.Config.MessageIndexEnable {
		return nil
	}
	b.opts.Health.Register("index", func() health.Result { return indexHealth(b.store.Stats()) })
	return metrics.Register(b.opts.Metrics, "broker", metrics.Gauge("wheelmq_index_behind_bytes",
		"Bytes of the log whose messages are not found by key yet.", func() int64 { return b.store.Stats().IndexBehind }))
}

// indexHealth is degraded while queries by key do not see all that is stored.
func indexHealth(s store.Stats) health.Result {
	switch {
	case s.IndexError != nil:
		return health.Result{State: health.Degraded, Reason: fmt.Sprintf(
			"%v; the last %d bytes of the log are not found by key", s.IndexError, s.IndexBehind)}
	case s.IndexBehind > indexFarBehind:
		return health.Result{State: health.Degraded, Reason: fmt.Sprintf(
			"the index is being built, the last %d bytes of the log are not found by key yet", s.IndexBehind)}
	}
	return health.Result{State: health.Up}
}
