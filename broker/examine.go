package broker

import (
	"errors"
	"fmt"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/store"
	"github.com/wheelmq/wheelmq/store/offline"
	"github.com/wheelmq/wheelmq/store/region"
)

// examine looks at a store, before the first write to it, for messages that the real broker
// accepted and this one would never deliver. Timers refuse the store, unless timerWheelEnable
// is false; what waits for transactions and pop consumers is told.
func (b *Broker) examine(fs region.FS) error {
	d, err := offline.Open(fs)
	if errors.Is(err, offline.ErrNoStore) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("broker: %w", err)
	}
	w, err := d.Waiting()
	if err := errors.Join(err, d.Close()); err != nil {
		return fmt.Errorf("broker: %w", err)
	}
	log := b.opts.Log.WithFields(logrus.Fields{"part": "store", "directory": b.opts.Config.StorePathRootDir})
	if w.Halves > 0 {
		log.WithField("halfTransactions", w.Halves).Warn("transactional messages wait for their commit, which this server does not serve yet")
	}
	if w.Pops > 0 {
		log.WithField("popRecords", w.Pops).Warn("messages may wait for the acknowledgement of pop consumers, which this server does not serve yet")
	}
	if w.Timers == 0 {
		return nil
	}
	b.opts.Differences.Use(difference.PendingTimersRefused)
	if b.opts.Config.TimerWheelEnable {
		return fmt.Errorf("broker: %s: %w: %d any-time delayed messages wait in it, the first until %s, and this server cannot take them over yet: "+
			"let RocketMQ deliver them, or set timerWheelEnable=false to leave them undelivered",
			b.opts.Config.StorePathRootDir, store.ErrUnsupported, w.Timers, time.UnixMilli(w.FirstTimer).Format(time.RFC3339))
	}
	reason := fmt.Sprintf("%d any-time delayed messages of RocketMQ are left undelivered: timerWheelEnable is false", w.Timers)
	log.Error(reason)
	b.opts.Health.Register("timers", func() health.Result { return health.Result{State: health.Degraded, Reason: reason} })
	return nil
}
