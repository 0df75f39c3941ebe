package timer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
)

// Cancel removes a pending message. It returns when that is as durable as a send.
func (s *Service) Cancel(ctx context.Context, id ID) error {
	_, err := s.change(ctx, id, nil)
	return err
}

// FireNow makes a pending message due now. It returns when that is as durable as a send.
func (s *Service) FireNow(ctx context.Context, id ID) error {
	_, err := s.change(ctx, id, &message.Due{Ms: clock.Ceil(s.opts.Store)})
	return err
}

// LimitDelay changes how far ahead Reschedule may go, ms; 0: any distance.
func (s *Service) LimitDelay(maxMs int64) { s.maxDelayMs.Store(maxMs) }

// Reschedule gives a pending message another instant, ms, and with it the ID that it returns; one
// that is past is now. The wall's clock decides it where there is one. It is one record that holds
// the whole message, so no crash loses or doubles it, and returns when that is as durable as a send.
func (s *Service) Reschedule(ctx context.Context, id ID, atMs int64) (ID, error) {
	due := message.Due{Ms: atMs, Wall: wallClock(s.opts.Store)}
	ahead := atMs - s.nowOf(s.lineOf(due), s.opts.Store.NowMillis())
	if limit := s.maxDelayMs.Load(); atMs < 0 || limit > 0 && ahead > limit {
		return ID{}, fmt.Errorf("%w: %d ms is negative, or more than %d ms ahead", ErrInstant, atMs, limit)
	}
	return s.change(ctx, id, &due)
}

const (
	// busyTries is how often a change is tried before it is told that the service is busy, busyPause
	// the time between, ms.
	busyTries = 100
	busyPause = 20
)

// nap waits a moment of real time; false when there is no use in it.
func (s *Service) nap(ctx context.Context) bool {
	timer := s.opts.Wire.NewTimer()
	defer timer.Disarm()
	timer.Arm(s.opts.Wire.NowMillis() + busyPause)
	select {
	case <-timer.C():
		return true
	case <-s.stop:
	case <-ctx.Done():
	}
	return false
}

// stored is told of a put.
type stored chan store.PutResult

// PutDone implements store.Completion.
func (d stored) PutDone(res store.PutResult) { d <- res }

// change puts what removes a message and, with an instant, takes its place.
func (s *Service) change(ctx context.Context, id ID, due *message.Due) (ID, error) {
	if !s.opts.Enabled {
		return ID{}, fmt.Errorf("%w: timerWheelEnable is false", ErrBusy)
	}
	done := make(stored, 1)
	res, pending, err := s.supersede(id, due, done)
	for tries := 1; errors.Is(err, ErrBusy) && tries < busyTries && s.nap(ctx); tries++ {
		res, pending, err = s.supersede(id, due, done)
	}
	if err != nil {
		return ID{}, err
	}
	s.wake()
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
func (s *Service) supersede(id ID, due *message.Due, done store.Completion) (res store.PutResult, pending bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, stored, err := s.locateNow(id)
	if err == nil && stored {
		look := s.search(f.line, id)
		s.mu.Unlock()
		look.read()
		s.mu.Lock()
		f, stored, err = s.locateNow(id)
		// What that took in belongs to what came meanwhile.
		if look.end(); err == nil && stored {
			f, err = look.found()
		}
	}
	if err != nil {
		return res, false, err
	}
	return s.putSuperseding(&f, id, due, done)
}

// locateNow is locate once everything is taken in.
func (s *Service) locateNow(id ID) (f located, stored bool, err error) {
	if s.closed {
		return f, false, fmt.Errorf("%w: the server stops", ErrBusy)
	}
	if s.catchUp(s.opts.Store.NowMillis(), nil); s.untaken() > 0 || s.queueOffset < s.rebuildTo || s.half != nothing || s.handover.inherits() {
		return f, false, fmt.Errorf("%w: %d records of the timer queue are not taken in", ErrBusy, s.untaken())
	}
	return s.locate(id)
}

// putSuperseding puts the record that removes a message that was found. The caller holds mu.
func (s *Service) putSuperseding(f *located, id ID, due *message.Due, done store.Completion) (res store.PutResult, pending bool, err error) {
	err = s.withRecord(f.item.LogOffset, f.item.Size, f.item.Record, func(v *message.View) error {
		rec, err := s.supersedingRecord(v, id, due)
		if err != nil {
			return err
		}
		res, pending, err = s.opts.Appender.Put(rec, appender.FromScheduler, done)
		return err
	})
	if err != nil {
		return res, false, fmt.Errorf("timer: change message %s: %w", id, err)
	}
	s.superseding[id.CommitLogOffset] = id
	if sec := f.line.find(id.Second); sec != nil {
		sec.addRef(id.CommitLogOffset)
	}
	s.progress++
	return res, pending, nil
}

// supersedingRecord is the record that removes a pending one and, with an instant, is the message
// anew.
func (s *Service) supersedingRecord(v *message.View, id ID, due *message.Due) (*message.Record, error) {
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
	rec.Properties = s.supersedingProperties(v.Properties, &sup, *due)
	if len(rec.Properties)+deliveryRoom > message.MaxPropertiesLength {
		return nil, errNoRoom
	}
	return &rec, nil
}

func (s *Service) supersedingProperties(props []byte, sup *message.Supersedes, due message.Due) []byte {
	out := message.PropertyCopyWithout(nil, props, func(name []byte) bool {
		switch string(name) {
		case message.PropertyTimerDelaySec, message.PropertyTimerDelayMs, message.PropertyTimerDeliverMs, message.PropertyTimerOutMs,
			message.PropertyTimerRollTimes, message.PropertyTimerRollLabel, message.PropertyDueMs, message.PropertySupersedes:
			return true
		}
		return false
	})
	out = message.PropertyAppend(out, message.PropertyTimerDeliverMs, strconv.FormatInt(due.Ms, 10))
	out = message.PropertyAppend(out, message.PropertyTimerOutMs, strconv.FormatInt(message.TimerOut(due.Ms, s.opts.PrecisionMs), 10))
	out = message.PropertyAppend(out, message.PropertyDueMs, due.AppendTo(nil))
	return message.PropertyAppend(out, message.PropertySupersedes, sup.AppendTo(nil))
}
