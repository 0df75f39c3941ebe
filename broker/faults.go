package broker

import (
	"github.com/wheelmq/wheelmq/broker/schedule"
	"github.com/wheelmq/wheelmq/broker/timer"
	"github.com/wheelmq/wheelmq/store"
	"github.com/wheelmq/wheelmq/store/region"
)

// breakable puts a store under the fault rules there are.
func (b *Broker) breakable(opts store.Options) store.Options {
	if faults := b.opts.Faults; faults != nil {
		opts.Wrap = func(fs region.FS) region.FS { return b.killable(region.NewFaulty(fs, faults)) }
		opts.OnBroken = func(error) { faults.Broken() }
	}
	return opts
}

// stall is what withholds due messages, or nil.
func (b *Broker) stall() schedule.Stall {
	if b.opts.Faults == nil {
		return nil
	}
	return b.opts.Faults
}

// timerStall is the same for timers.
func (b *Broker) timerStall() timer.Stall {
	if b.opts.Faults == nil {
		return nil
	}
	return b.opts.Faults
}

// obeyFaults has every part that keeps a state of its own look at the rules, now and when they
// change.
func (b *Broker) obeyFaults() {
	if b.opts.Faults == nil {
		return
	}
	look := func() {
		b.store.CheckSpace()
		b.schedule.Recheck()
		b.timer.Recheck()
	}
	stop := b.opts.Faults.Watch(look)
	b.closers = append(b.closers, func() error {
		stop()
		return nil
	})
	look()
}
