package broker

import (
	"fmt"
	"path/filepath"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker/offset"
	"github.com/wheelmq/wheelmq/broker/persist"
	"github.com/wheelmq/wheelmq/broker/pop"
	"github.com/wheelmq/wheelmq/clock"
)

// handBackPops takes groups back to the first message that is in flight to them: the real broker knows
// nothing of it, and would pass it over. What lies behind it comes again.
func (e *exporter) handBackPops(dir string) error {
	offsets, err := offset.New(offset.Options{
		Wire: clock.Real{}, Store: e.clock, Log: e.log, Config: persist.At(filepath.Join(dir, "config")),
	})
	if err != nil {
		return err
	}
	s, err := pop.New(pop.Options{
		Store: e.clock, Wire: clock.Real{}, FS: e.fs, Log: e.store, Offsets: offsets, Logger: e.log,
	})
	if err != nil {
		return err
	}
	if queues, messages := s.HandBack(); messages > 0 {
		e.log.WithFields(logrus.Fields{"queues": queues, "messages": messages}).
			Warn("messages are in flight to pop consumers: their groups begin at the first of them again")
	}
	if err := offsets.Save(); err != nil {
		return fmt.Errorf("broker: %w", err)
	}
	return s.Discard()
}
