package wheelmqtest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wheelmq/wheelmq/control"
)

// turnLimit bounds one turn of the clock, of real time.
const turnLimit = 5 * time.Minute

// Now is message time: the virtual clock's, or the machine's.
func (mq *Broker) Now() time.Time {
	mq.t.Helper()
	state, err := mq.Control().Clock()
	mq.must("clock", err)
	return time.UnixMilli(state.NowMs)
}

// Advance turns the clock by d. When it returns, every message that came due is in its topic
// and can be pulled, in due order; consumers get them at once.
func (mq *Broker) Advance(d time.Duration) Moved {
	mq.t.Helper()
	return mq.turn("advance", func(ctx context.Context) (Moved, error) { return mq.Control().Advance(ctx, d) })
}

// AdvanceToNext waits until consumers have finished with what they got, turns the clock to the
// next instant at which a message is due and delivers what is. With nothing pending it does
// nothing and returns false.
func (mq *Broker) AdvanceToNext() bool {
	mq.t.Helper()
	moved := mq.turn("advance to the next message", func(ctx context.Context) (Moved, error) {
		moved, err := mq.Control().AdvanceToNext(ctx)
		if errors.Is(err, control.ErrNothingPending) {
			return Moved{}, nil
		}
		return moved, err
	})
	return moved.Steps > 0
}

// AdvanceUntil turns the clock from due instant to due instant until cond holds, and lets
// clients finish with what they got before each step: a consumer that fails has its message
// sent back with the next delay level, and so on to the dead letters. The test fails when
// limit of message time was not enough, and when for 45 seconds of real time clients do not
// finish, or nothing is pending and nobody does anything. cond must not turn the clock itself.
func (mq *Broker) AdvanceUntil(cond func() bool, limit time.Duration) Moved {
	mq.t.Helper()
	return mq.turn("advance until", func(ctx context.Context) (Moved, error) {
		return mq.Control().AdvanceUntil(ctx, func() (bool, error) { return cond(), nil }, limit)
	})
}

// AutoSkip makes the clock go to the next due instant by itself whenever clients have finished
// with what they got, until stop is called, Reset, or the end of the test.
func (mq *Broker) AutoSkip() (stop func()) {
	mq.t.Helper()
	mq.must("auto-skip", mq.Control().SetAutoSkip(true))
	return func() {
		mq.t.Helper()
		mq.must("auto-skip", mq.Control().SetAutoSkip(false))
	}
}

func (mq *Broker) turn(what string, step func(context.Context) (Moved, error)) (moved Moved) {
	mq.t.Helper()
	mq.within(what, turnLimit, func(ctx context.Context) (err error) {
		moved, err = step(ctx)
		return err
	})
	return moved
}

// WaitConsumed waits of real time until a group has consumed n messages with success since the
// server's start. It asks the clients, which commit only every few seconds.
func (mq *Broker) WaitConsumed(group string, n int, timeout time.Duration) {
	mq.t.Helper()
	mq.await(timeout, func() (bool, string) {
		done, err := mq.consumed(group)
		if err != nil {
			return false, err.Error()
		}
		return done >= int64(n), fmt.Sprintf("group %s has consumed %d messages, want %d", group, done, n)
	})
}

// consumed is how many messages a group has consumed; none before its first consumer came.
func (mq *Broker) consumed(group string) (int64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	n, err := mq.Control().Consumed(ctx, group)
	if errors.Is(err, control.ErrNotFound) {
		return 0, nil
	}
	return n, err
}
