package control

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/wheelmq/wheelmq/broker"
	"github.com/wheelmq/wheelmq/broker/virtualtime"
)

// Clock is where message time stands and what waits for it.
func (c *Control) Clock() (ClockState, error) {
	b, err := c.live()
	if err != nil {
		return ClockState{}, err
	}
	next, pending := b.Due()
	state := ClockState{Virtual: b.VirtualTime() != nil, NowMs: b.NowMillis(), Pending: pending, AutoSkip: c.autoSkip.Load()}
	if next != math.MaxInt64 {
		state.NextDueMs = next
	}
	return state, nil
}

// Advance turns the clock by d. When it returns, everything that became due is in its topic and
// can be pulled, in due order.
func (c *Control) Advance(ctx context.Context, d time.Duration) (Moved, error) {
	return c.turn(func(e *virtualtime.Engine) (virtualtime.Moved, error) { return e.Advance(ctx, d) })
}

// AdvanceToNext turns the clock to the next due instant. With nothing pending the error wraps
// ErrNothingPending.
func (c *Control) AdvanceToNext(ctx context.Context) (Moved, error) {
	return c.turn(func(e *virtualtime.Engine) (virtualtime.Moved, error) { return e.AdvanceToNext(ctx) })
}

// AdvanceUntil turns the clock from due instant to due instant until cond holds, by limit at
// most, and lets clients finish with what they were given before each. cond is called on the
// caller's goroutine. The error wraps ErrLimit or ErrBusy.
func (c *Control) AdvanceUntil(ctx context.Context, cond func() (bool, error), limit time.Duration) (Moved, error) {
	return c.turn(func(e *virtualtime.Engine) (virtualtime.Moved, error) { return e.AdvanceUntil(ctx, cond, limit) })
}

func (c *Control) turn(step func(*virtualtime.Engine) (virtualtime.Moved, error)) (Moved, error) {
	e, err := c.engine()
	if err != nil {
		return Moved{}, err
	}
	m, err := step(e)
	if errors.Is(err, virtualtime.ErrNegative) {
		err = fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if errors.Is(err, virtualtime.ErrClosed) {
		err = fmt.Errorf("%w: it was stopped or restarted while its clock was turned", ErrDown)
	}
	return Moved{FromMs: m.From, NowMs: m.Now, Steps: m.Steps, Delivered: m.Delivered}, err
}

// engine is what turns the clock there is.
func (c *Control) engine() (*virtualtime.Engine, error) {
	b, err := c.live()
	if err != nil {
		return nil, err
	}
	if e := b.VirtualTime(); e != nil {
		return e, nil
	}
	return nil, ErrRealClock
}

// SetAutoSkip makes the clock go to the next due instant by itself whenever clients have
// finished with what they were given, or ends that. It holds over restarts.
func (c *Control) SetAutoSkip(on bool) error {
	e, err := c.engine()
	if err != nil {
		return err
	}
	c.autoSkip.Store(on)
	e.SetAutoSkip(on)
	return nil
}

// Forget makes the clock stand, as at the server's start.
func (c *Control) Forget() { c.autoSkip.Store(false) }

// Began tells that the server has begun another life.
func (c *Control) Began(b *broker.Broker) {
	if e := b.VirtualTime(); e != nil {
		e.SetAutoSkip(c.autoSkip.Load())
	}
}

// Consumed is how many messages a group has consumed with success since the server's start. Its
// clients are asked: they commit only every few seconds.
func (c *Control) Consumed(ctx context.Context, group string) (int64, error) {
	b, err := c.live()
	if err != nil {
		return 0, err
	}
	if !b.KnowsGroup(group) {
		return 0, fmt.Errorf("group %q: %w", group, ErrNotFound)
	}
	tracker := b.InFlight()
	if tracker == nil {
		return 0, fmt.Errorf("%w: this server is not for tests", ErrInvalid)
	}
	return tracker.Consumed(ctx, group)
}

// askLimit bounds what clients may take to say what they hold, of real time.
const askLimit = 10 * time.Second

// Holds tells whether a condition holds now.
func (c *Control) Holds(until Until) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), askLimit)
	defer cancel()
	if until.Topic != "" && c.Stored(until.Topic) < max(1, until.Messages) {
		return false, nil
	}
	if until.Group != "" {
		n, err := c.Consumed(ctx, until.Group)
		if errors.Is(err, ErrNotFound) {
			return false, nil // its consumers have yet to come
		}
		if err != nil || n < max(1, until.Consumed) {
			return false, err
		}
	}
	if until.Idle {
		return c.idle(ctx)
	}
	return true, nil
}

// idle tells that nothing is pending and that clients have finished with what they were given.
func (c *Control) idle(ctx context.Context) (bool, error) {
	b, err := c.live()
	if err != nil {
		return false, err
	}
	if _, pending := b.Due(); pending > 0 {
		return false, nil
	}
	tracker := b.InFlight()
	if tracker == nil {
		return true, nil
	}
	work, err := tracker.Busy(ctx)
	return len(work) == 0, err
}
