package control

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/wheelmq/wheelmq/broker"
	"github.com/wheelmq/wheelmq/broker/park"
	"github.com/wheelmq/wheelmq/broker/timer"
	"github.com/wheelmq/wheelmq/message"
)

// CancelPending removes a pending message by its ID. It returns when that is as durable as a send.
// The error wraps ErrNotFound, ErrTooLate, or ErrRefused for a message with a delay level.
func (c *Control) CancelPending(ctx context.Context, id string) error {
	b, err := c.live()
	if err != nil {
		return err
	}
	return changeError(b.CancelPending(ctx, id))
}

// FireNow makes a pending message due now: it is delivered at once, like what is due. The errors
// are those of CancelPending.
func (c *Control) FireNow(ctx context.Context, id string) error {
	b, err := c.live()
	if err != nil {
		return err
	}
	return changeError(b.FireNow(ctx, id))
}

// Reschedule gives a pending message another instant and returns the ID that it has from now on.
// The errors are those of CancelPending, and ErrInvalid for an instant beyond timerMaxDelaySec.
func (c *Control) Reschedule(ctx context.Context, id string, at time.Time) (string, error) {
	b, err := c.live()
	if err != nil {
		return "", err
	}
	id, err = b.Reschedule(ctx, id, at.UnixMilli())
	return id, changeError(err)
}

// Parked are the messages that their targets refused for good, as they were parked, at most limit;
// total is how many there are.
func (c *Control) Parked(ctx context.Context, limit int) (list []Parked, total int64, err error) {
	b, err := c.live()
	if err != nil {
		return nil, 0, err
	}
	list = []Parked{}
	err = b.EachParked(0, func(p park.Parked, v *message.View) error {
		if total++; len(list) < limit {
			m := messageOf(v)
			m.Topic, m.QueueID = p.Topic, p.QueueID
			list = append(list, Parked{Message: m, ID: strconv.FormatInt(p.QueueOffset, 10), Service: p.Service, Reason: p.Reason})
		}
		return ctx.Err()
	})
	return list, total, err
}

// Redrive stores a parked message in its target and forgets it. The error wraps ErrNotFound, or
// ErrRefused when the target refuses it again: it stays parked.
func (c *Control) Redrive(ctx context.Context, id string) error {
	return c.parked(id, func(b *broker.Broker, offset int64) error { return b.Redrive(ctx, offset) })
}

// DropParked forgets a parked message. The error wraps ErrNotFound.
func (c *Control) DropParked(_ context.Context, id string) error {
	return c.parked(id, (*broker.Broker).DropParked)
}

func (c *Control) parked(id string, do func(b *broker.Broker, offset int64) error) error {
	b, err := c.live()
	if err != nil {
		return err
	}
	offset, err := strconv.ParseInt(id, 10, 64)
	if err != nil || offset < 0 {
		return fmt.Errorf("parked message %q: %w", id, ErrNotFound)
	}
	return changeError(do(b, offset))
}

// changeError tells why a pending message was not changed by an error that callers tell apart.
func changeError(err error) error {
	for _, known := range []struct{ is, as error }{
		{timer.ErrNotPending, ErrNotFound}, {timer.ErrTooLate, ErrTooLate}, {timer.ErrBusy, ErrRefused},
		{timer.ErrInstant, ErrInvalid}, {broker.ErrLevel, ErrRefused}, {park.ErrNotParked, ErrNotFound},
		{park.ErrNote, ErrRefused}, {park.ErrRefused, ErrRefused}, {park.ErrUnread, ErrRefused},
	} {
		if errors.Is(err, known.is) {
			return fmt.Errorf("%w: %w", known.as, err)
		}
	}
	return err
}
