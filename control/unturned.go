package control

import (
	"context"
	"math"
	"time"

	"github.com/wheelmq/wheelmq/broker/schedule"
	"github.com/wheelmq/wheelmq/message"
)

// Clock is where the clock of messages stands.
func (c *Control) Clock() (ClockState, error) {
	b, err := c.live()
	if err != nil {
		return ClockState{}, err
	}
	state, next := ClockState{NowMs: b.NowMillis()}, int64(math.MaxInt64)
	err = b.EachPending(func(p schedule.Pending, _ *message.Record) error {
		state.Pending, next = state.Pending+1, min(next, p.Due)
		return nil
	})
	if state.Pending > 0 {
		state.NextDueMs = next
	}
	return state, err
}

// Advance turns the clock on.
func (c *Control) Advance(context.Context, time.Duration) (Moved, error) {
	return Moved{}, ErrRealClock
}

// AdvanceToNext turns the clock to the next due instant.
func (c *Control) AdvanceToNext(context.Context) (Moved, error) { return Moved{}, ErrRealClock }

// AdvanceUntil turns the clock until a condition holds.
func (c *Control) AdvanceUntil(context.Context, func() (bool, error), time.Duration) (Moved, error) {
	return Moved{}, ErrRealClock
}

// Holds tells whether a condition holds.
func (c *Control) Holds(Until) (bool, error) { return false, ErrRealClock }

// SetAutoSkip lets the clock jump by itself.
func (c *Control) SetAutoSkip(bool) error { return ErrRealClock }

// Consumed is how many messages a group has consumed.
func (c *Control) Consumed(context.Context, string) (int64, error) { return 0, ErrRealClock }
