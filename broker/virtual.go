package broker

import (
	"context"
	"fmt"

	"github.com/wheelmq/wheelmq/broker/inflight"
	"github.com/wheelmq/wheelmq/broker/virtualtime"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
)

// assembleInFlight lets the broker note what is given out, if tests want to know or to turn the
// clock.
func (b *Broker) assembleInFlight() {
	if b.virtual == nil && !b.opts.TrackInFlight {
		return
	}
	b.inFlight = inflight.New(inflight.Options{
		BrokerName: b.opts.Config.BrokerName, Clients: b.clients, Groups: b.groups, Topics: b.topics, Offsets: b.offsets,
		Store: b.store, Polls: b.polls, InFlight: b.popInFlight, Wire: b.opts.Wire, Log: b.opts.Log.WithField("part", "inflight"),
	})
	if b.virtual == nil {
		return
	}
	b.time = virtualtime.New(virtualtime.Options{
		Clock: b.virtual, Wire: b.opts.Wire, Settle: b.Settle, Delivered: b.delivered, Keep: b.store.KeepNow,
		InFlight: b.inFlight, Log: b.opts.Log.WithField("part", "clock"),
	})
}

// startTime lets a virtual clock go by itself when it is told to.
func (b *Broker) startTime() {
	if b.time != nil {
		b.time.Start()
		b.closers = append(b.closers, b.time.Close)
	}
}

// VirtualTime turns the clock of messages; nil when that is a real one.
func (b *Broker) VirtualTime() *virtualtime.Engine { return b.time }

// InFlight knows what consumers have not finished with; nil unless Options.TrackInFlight or a
// virtual clock wants it.
func (b *Broker) InFlight() *inflight.Tracker { return b.inFlight }

// settlePollMs is how often Settle looks whether a group commit has ended.
const settlePollMs = 1

// Settle returns when everything that was accepted when it was called can be read, and everything
// due now is delivered and stored for good; next is the instant, ms of the store's clock, at which
// the next message is due, or one that was refused is tried again. math.MaxInt64: none.
func (b *Broker) Settle(ctx context.Context) (next int64, err error) {
	timer := b.opts.Wire.NewTimer()
	defer timer.Disarm()
	for end := b.store.MaxCommitLogOffset(); b.store.Published() < end; {
		if err := b.store.Writable(); err != nil {
			return 0, fmt.Errorf("broker: settle: %w", err)
		}
		timer.Arm(b.opts.Wire.NowMillis() + settlePollMs)
		select {
		case <-timer.C():
		case <-ctx.Done():
			return 0, fmt.Errorf("broker: settle: what was sent last is not durable: %w", ctx.Err())
		}
	}
	level, err := b.schedule.Settle(ctx)
	if err != nil {
		return 0, err
	}
	next, err = b.timer.Settle(ctx)
	if err != nil {
		return 0, err
	}
	check, err := b.halves.Settle(ctx)
	if err != nil {
		return 0, err
	}
	visible, err := b.pops.Settle(ctx)
	return min(level, next, check, visible), err
}

// delivered is how many messages came due since the start.
func (b *Broker) delivered() int64 { return b.schedule.Delivered() + b.timer.Delivered() }

// Due is when the first pending message is due, ms of the store's clock, and how many there are;
// with none math.MaxInt64 and 0.
func (b *Broker) Due() (next, messages int64) {
	next, messages = b.schedule.Due()
	at, timers := b.timer.Due()
	return min(next, at), messages + timers
}

// mayBeDue lets a clock that goes by itself look at a message that has come.
func (b *Broker) mayBeDue(a store.Arrival) {
	if b.time != nil && (a.Topic == message.TopicSchedule || a.Topic == message.TopicTimer || a.Topic == message.TopicTransHalf) {
		b.time.Kick()
	}
}
