package timer

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/sirupsen/logrus"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
)

// changes are how pending messages are cancelled and given other instants. Its methods are called
// without the lock, but for those that say so.
type changes struct {
	state    *state
	records  *records
	intake   *intake
	handover *handover
	looks    *looks
	held     *heldTopics
	appender Appender
	clock    clock.Clock // of messages
	wire     clock.Clock // paces what is tried again
	logger   logrus.FieldLogger
	ctx      context.Context // ends with the service
	wake     func()          // has the driver look again
	enabled  bool            // timerWheelEnable

	maxDelayMs atomic.Int64 // as Options.MaxDelayMs
}

// Cancel removes a pending message. It returns when that is as durable as a send.
func (s *Service) Cancel(ctx context.Context, id ID) error {
	_, err := s.changes.change(ctx, id, nil)
	return err
}

// FireNow makes a pending message due now. It returns when that is as durable as a send.
func (s *Service) FireNow(ctx context.Context, id ID) error {
	_, err := s.changes.change(ctx, id, &message.Due{Ms: clock.Ceil(s.opts.Store)})
	return err
}

// LimitDelay changes how far ahead Reschedule may go, ms; 0: any distance.
func (s *Service) LimitDelay(maxMs int64) { s.changes.maxDelayMs.Store(maxMs) }

// Reschedule gives a pending message another instant, ms, and with it the ID that it returns; one
// that is past is now. The wall's clock decides it where there is one. It is one record that holds
// the whole message, so no crash loses or doubles it, and returns when that is as durable as a send.
func (s *Service) Reschedule(ctx context.Context, id ID, atMs int64) (ID, error) {
	return s.changes.reschedule(ctx, id, atMs)
}

func (c *changes) reschedule(ctx context.Context, id ID, atMs int64) (ID, error) {
	due := message.Due{Ms: atMs, Wall: wallClock(c.clock)}
	ahead := atMs - c.state.lines.of(due).now(c.clock.NowMillis())
	if limit := c.maxDelayMs.Load(); atMs < 0 || limit > 0 && ahead > limit {
		return ID{}, fmt.Errorf("%w: %d ms is negative, or more than %d ms ahead", ErrInstant, atMs, limit)
	}
	return c.change(ctx, id, &due)
}

const (
	// busyTries is how often a change is tried before it is told that the service is busy, busyPause
	// the time between, ms.
	busyTries = 100
	busyPause = 20
)

// nap waits a moment of real time; false when there is no use in it.
func (c *changes) nap(ctx context.Context) bool {
	timer := c.wire.NewTimer()
	defer timer.Disarm()
	timer.Arm(c.wire.NowMillis() + busyPause)
	select {
	case <-timer.C():
		return true
	case <-c.ctx.Done():
	case <-ctx.Done():
	}
	return false
}

// stored is told of a put.
type stored chan store.PutResult

// PutDone implements store.Completion.
func (d stored) PutDone(res store.PutResult) { d <- res }

// change puts what removes a message and, with an instant, takes its place.
func (c *changes) change(ctx context.Context, id ID, due *message.Due) (ID, error) {
	if !c.enabled {
		return ID{}, fmt.Errorf("%w: timerWheelEnable is false", ErrBusy)
	}
	done := make(stored, 1)
	res, pending, err := c.supersede(id, due, done)
	for tries := 1; errors.Is(err, ErrBusy) && tries < busyTries && c.nap(ctx); tries++ {
		res, pending, err = c.supersede(id, due, done)
	}
	if err != nil {
		return ID{}, err
	}
	c.wake()
	if pending {
		select {
		case res = <-done:
		case <-ctx.Done():
			return ID{}, fmt.Errorf("timer: change message %s: whether it is durable is not known: %w", id, ctx.Err())
		}
	}
	if err := appender.Refusal(res); err != nil {
		return ID{}, fmt.Errorf("timer: change message %s: %w", id, err)
	}
	if due == nil {
		return ID{}, nil
	}
	return ID{Wall: due.Wall, Second: slotOf(due.Ms), CommitLogOffset: res.CommitLogOffset}, nil
}

// supersede makes sure that a message is neither delivered nor on its way, and puts the record while
// that holds. A message in files is looked for first, and what happened to it meanwhile counts.
func (c *changes) supersede(id ID, due *message.Due, done store.Completion) (res store.PutResult, pending bool, err error) {
	debug.SetPanicOnFault(true)
	c.state.mu.Lock()
	defer c.state.mu.Unlock()
	f, stored, err := c.locateNow(id)
	if err == nil && stored {
		look := c.looks.search(f.line, id)
		c.state.without(look.read)
		f, stored, err = c.locateNow(id)
		// What that took in belongs to what came meanwhile.
		if look.end(); err == nil && stored {
			f, err = look.found()
		}
	}
	if err != nil {
		return res, false, err
	}
	return c.putSuperseding(&f, id, due, done)
}

// locateNow is locate once everything is taken in. The caller holds the lock.
func (c *changes) locateNow(id ID) (f located, stored bool, err error) {
	if c.state.closed {
		return f, false, fmt.Errorf("%w: the server stops", ErrBusy)
	}
	if c.intake.catchUp(c.clock.NowMillis(), nil); !c.intake.caughtUp() || c.handover.inherits() {
		return f, false, fmt.Errorf("%w: %d records of the timer queue are not taken in", ErrBusy, c.intake.untaken())
	}
	return c.locate(id)
}

// putSuperseding puts the record that removes a message that was found. The caller holds the lock.
func (c *changes) putSuperseding(f *located, id ID, due *message.Due, done store.Completion) (res store.PutResult, pending bool, err error) {
	err = c.records.withRecord(f.item.LogOffset, f.item.Size, f.item.Record, func(v *message.View) error {
		rec, err := c.supersedingRecord(v, id, due)
		if err != nil {
			return err
		}
		res, pending, err = c.appender.Put(rec, appender.FromScheduler, done)
		return err
	})
	if err != nil {
		return res, false, fmt.Errorf("timer: change message %s: %w", id, err)
	}
	c.state.superseding[id.CommitLogOffset] = id
	if sec := f.line.find(id.Second); sec != nil {
		sec.addRef(id.CommitLogOffset)
	}
	c.state.progress++
	return res, pending, nil
}

// supersedingRecord is the record that removes a pending one and, with an instant, is the message
// anew.
func (c *changes) supersedingRecord(v *message.View, id ID, due *message.Due) (*message.Record, error) {
	sup := message.Supersedes{Wall: id.Wall, Second: id.Second, LogOffset: id.CommitLogOffset, Root: id.CommitLogOffset}
	if before, ok := message.SupersedesOf(v.Properties); ok {
		sup.Root, sup.Generation = before.Root, before.Generation
	}
	rec := v.RecordFor(message.TopicTimer, 0, nil)
	old, ok := message.DueOf(v.Properties)
	if due == nil {
		sup.Generation = 0
		due, rec.Body = &old, []byte("0")
	} else {
		sup.Generation++
		ok, rec.Body = true, slices.Clone(v.Body)
	}
	if !ok {
		due = &message.Due{Ms: id.Second*1000 + 1, Wall: id.Wall}
	}
	rec.Properties = c.supersedingProperties(v.Properties, &sup, *due)
	if len(rec.Properties)+deliveryRoom > message.MaxPropertiesLength {
		return nil, errNoRoom
	}
	return &rec, nil
}

func (c *changes) supersedingProperties(props []byte, sup *message.Supersedes, due message.Due) []byte {
	out := message.PropertyCopyWithout(nil, props, func(name []byte) bool {
		switch string(name) {
		case message.PropertyTimerDelaySec, message.PropertyTimerDelayMs, message.PropertyTimerDeliverMs, message.PropertyTimerOutMs,
			message.PropertyTimerRollTimes, message.PropertyTimerRollLabel, message.PropertyDueMs, message.PropertySupersedes:
			return true
		}
		return false
	})
	out = message.PropertyAppend(out, message.PropertyTimerDeliverMs, strconv.FormatInt(due.Ms, 10))
	out = message.PropertyAppend(out, message.PropertyTimerOutMs, strconv.FormatInt(message.TimerOut(due.Ms, c.records.precisionMs), 10))
	out = message.PropertyAppend(out, message.PropertyDueMs, due.AppendTo(nil))
	return message.PropertyAppend(out, message.PropertySupersedes, sup.AppendTo(nil))
}
