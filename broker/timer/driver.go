package timer

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker/redeliver"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
)

// driver is the goroutine that takes in, loads and delivers. It holds the lock for a pass, and lets go
// of it in between and where the parts say so.
type driver struct {
	redeliver.Driver
	state    *state
	intake   *intake
	handover *handover
	loader   *loader
	delivery *delivery
	lister   *lister
	pin      *pin
	clock    clock.Clock // of messages
	logger   logrus.FieldLogger
	inOrder  bool // as Options.InOrder
	withheld withheld

	asleep    atomic.Bool  // an arrival must wake it
	passes    atomic.Int64 // since the start
	soonUntil atomic.Int64 // until when messages are expected that are due soon, ms of message time
}

// After it has taken some in, arrivals need not wake the driver for a while, ms: every wake costs as much
// as taking in ten more. It looks more often while messages come that are due soon.
const (
	lingerMs     = 5
	lingerSoonMs = 1
	soonMs       = 100  // what is due within that is due soon
	soonForMs    = 1000 // how long more of the kind are expected
)

// Soon tells that a message will be put which is due before long; now is ms of message time.
func (s *Service) Soon(now int64) {
	if before := s.driver.soonUntil.Swap(now + soonForMs); before <= now {
		s.driver.Wake()
	}
}

// linger is how long arrivals need not wake the driver, ms.
func (d *driver) linger(now int64) int64 {
	if d.soonUntil.Load() > now {
		return lingerSoonMs
	}
	return lingerMs
}

// Arrived wakes the driver when a pending record has come. It is called for every record that
// becomes readable and must be quick.
func (s *Service) Arrived(a store.Arrival) {
	if d := &s.driver; a.Topic == message.TopicTimer && d.asleep.Load() && d.asleep.CompareAndSwap(true, false) {
		d.Wake()
	}
}

// Recheck looks at Options.Stall again.
func (s *Service) Recheck() { s.driver.Wake() }

// Settle returns when everything due at the store clock's instant is delivered and stored for
// good, and everything that had arrived when it was called is known; next is the instant of the
// store clock, ms, at which there is something to do: a message is due, a target is tried again that
// refused, or a message is tried again that a full disk keeps from being taken in. math.MaxInt64:
// never. It needs a service that was started.
func (s *Service) Settle(ctx context.Context) (next int64, err error) {
	if !s.opts.Enabled {
		return never, nil
	}
	next, err = s.driver.Settle(ctx)
	if err != nil {
		return 0, fmt.Errorf("timer: settle: %w", err)
	}
	return next, nil
}

// run delivers until the service ends.
func (d *driver) run() {
	defer d.delivery.putter.end()
	timer := d.clock.NewTimer()
	defer timer.Disarm()
	for {
		// Nothing that arrives from here on is missed.
		d.asleep.Store(true)
		now := d.clock.NowMillis()
		p := d.pass(now)
		if p.again || p.wake <= now {
			if d.Stopped() {
				return
			}
			continue
		}
		if p.settled {
			d.Answer(p.due)
		}
		if p.took && !d.inOrder {
			d.asleep.Store(false)
			p.wake = min(p.wake, now+d.linger(now))
		}
		clock.Rearm(timer, p.wake)
		if d.Sleep(timer, nil) {
			return
		}
	}
}

// pass takes in what came, delivers a batch of every second in which something is due, and finds
// out when to look again.
func (d *driver) pass(now int64) (p plan) {
	p = plan{wake: never, due: never}
	d.passes.Add(1)
	d.withheld.check()
	p.took = d.intake.enqueue(now) > 0
	d.state.mu.Lock()
	defer d.state.mu.Unlock()
	d.delivery.settle()
	retry := d.intake.nextAt(now)
	p.at(retry)
	if d.intake.rebuilds() || d.handover.inherits() {
		// What was delivered, or cancelled, is not known before: nothing is due until then.
		p.settled = retry < never && d.delivery.landed()
		return p
	}
	for _, l := range d.state.lines {
		d.loader.load(l, l.now(now))
	}
	switch {
	case d.withheld.now != "":
		d.withheld.tell(&d.state.lines, now)
	case now < d.delivery.storing.retryAt:
		p.at(d.delivery.storing.retryAt)
	case d.delivery.full():
	default:
		p.at(d.delivery.all(now))
	}
	for _, l := range d.state.lines {
		d.advance(l, l.now(now))
		d.look(l, now, &p)
	}
	p.wake = min(p.wake, d.state.forgetKnown(now))
	p.settled = d.delivery.landed() && d.loader.repairs == 0 && !d.waitsForFiles(now)
	d.pin.note()
	return p
}
