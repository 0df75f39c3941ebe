package timer

import (
	"context"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker/redeliver"
	"github.com/wheelmq/wheelmq/clock"
)

// delivery puts copies of due messages into their real topics, tries again what is refused, and parks
// what is refused for good. It belongs to the driver; others look at what is held for its target.
type delivery struct {
	state    *state
	records  *records
	parking  *parking
	appender Appender
	clock    clock.Clock // of messages
	logger   logrus.FieldLogger
	ctx      context.Context                 // ends with the service
	wake     func()                          // has the driver look again
	before   func(ctx context.Context) error // as Options.First
	counted  func(topic string, n, size int64)
	inOrder  bool // as Options.InOrder

	copy     *redeliver.Copier
	putter   putter
	idle     []*flight // to be used again
	flights  []*flight
	inFlight int  // copies that are not known to be stored for good
	storing  wait // of all deliveries: the store refuses
	held     heldTopics

	lateness  prometheus.Observer
	delivered atomic.Int64 // came due since the start: delivered, parked or lost. It needs no lock, like cancelled.
	cancelled atomic.Int64
}

// full tells that no more copies may be on their way.
func (d *delivery) full() bool { return d.inFlight >= maxInFlight }

// landed tells that no copies are on their way.
func (d *delivery) landed() bool { return len(d.flights) == 0 }

// Delivered is how many messages came due since the start: delivered, parked or lost.
func (s *Service) Delivered() int64 { return s.delivery.delivered.Load() }
