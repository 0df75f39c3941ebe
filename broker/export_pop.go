package broker

import (
	"fmt"
	"path/filepath"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker/offset"
	"github.com/wheelmq/wheelmq/broker/persist"
	"github.com/wheelmq/wheelmq/broker/pop"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/message"
)

// Heir is the real broker that a copy is for: brokerClusterName and brokerName.
type Heir struct{ Cluster, BrokerName string }

// known tells whether its names are. Checkpoints of popped messages hold them.
func (h Heir) known() bool { return h.Cluster != "" && h.BrokerName != "" }

// handOverPops makes what is in flight the real broker's own. One of which no name is known would look
// for the messages at another broker: for that one groups are taken back to the first of them.
func (e *exporter) handOverPops(dir string) error {
	tables := persist.At(filepath.Join(dir, "config"))
	offsets, err := offset.New(offset.Options{Wire: clock.Real{}, Store: e.clock, Log: e.log, Config: tables})
	if err != nil {
		return err
	}
	s, err := pop.New(pop.Options{
		Store: e.clock, Wire: clock.Real{}, FS: e.fs, Log: e.store, Offsets: offsets, Logger: e.log,
	})
	if err != nil {
		return err
	}
	if !e.heir.known() {
		e.handBack(s)
	} else if err := e.handOver(s, tables); err != nil {
		return err
	}
	if err := offsets.Save(); err != nil {
		return fmt.Errorf("broker: %w", err)
	}
	return s.Discard()
}

func (e *exporter) handBack(s *pop.Service) {
	if queues, messages := s.HandBack(); messages > 0 {
		e.log.WithFields(logrus.Fields{"queues": queues, "messages": messages}).
			Warn("messages are in flight to pop consumers: their groups begin at the first of them again; exact with the real broker's names")
	}
}

func (e *exporter) handOver(s *pop.Service, tables persist.Dir) error {
	_, order, err := s.HandOver(&pop.Handover{
		Cluster: e.heir.Cluster, BrokerName: e.heir.BrokerName, PrecisionMs: exportPrecisionMs, Put: e.put,
	})
	if err == nil && order != nil {
		err = tables.Save(pop.OrderFile, order)
	}
	if err != nil {
		return fmt.Errorf("broker: %w", err)
	}
	return e.store.Flush()
}

// exportPrecisionMs is timerPrecisionMs of the records that are handed over.
const exportPrecisionMs = 1000

// put appends a record to the copy.
func (e *exporter) put(rec *message.Record) error {
	if res, _ := e.store.Put(rec, nil); !res.OK() {
		return fmt.Errorf("the copy refuses a pending message: %v", res.Status)
	}
	return nil
}
