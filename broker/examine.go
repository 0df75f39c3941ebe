package broker

import (
	"errors"
	"fmt"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/store/offline"
	"github.com/wheelmq/wheelmq/store/region"
)

// examine looks at a store, before the first write to it, for messages that the real broker
// accepted and this one would never deliver: timers when timerWheelEnable is false, what waits for
// pop consumers. They are told.
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
	if w.Pops > 0 {
		log.WithField("popRecords", w.Pops).Info("what RocketMQ has handed out to pop consumers is taken over")
	}
	if w.Timers == 0 || b.opts.Config.TimerWheelEnable {
		return nil // who delivers them takes them over
	}
	log.WithFields(logrus.Fields{"timers": w.Timers, "first": time.UnixMilli(w.FirstTimer).Format(time.RFC3339)}).
		Error("any-time delayed messages of RocketMQ are left undelivered: timerWheelEnable is false")
	return nil
}
