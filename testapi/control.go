package testapi

import (
	"context"
	"time"

	"github.com/wheelmq/wheelmq/control"
	"github.com/wheelmq/wheelmq/fault"
)

// Control is what the API asks of a running server; package control says what the methods do.
type Control interface {
	Clock() (control.ClockState, error)
	Advance(ctx context.Context, d time.Duration) (control.Moved, error)
	AdvanceToNext(ctx context.Context) (control.Moved, error)
	AdvanceUntil(ctx context.Context, cond func() (bool, error), limit time.Duration) (control.Moved, error)
	Holds(until control.Until) (bool, error)
	SetAutoSkip(on bool) error

	CreateTopic(ctx context.Context, name string, queues int) error
	CreateGroup(ctx context.Context, name string, maxRetry int) error
	Pending(ctx context.Context) ([]control.Pending, error)
	Messages(topic string) ([]control.Message, error)
	Topics() []string
	Groups() []string
	Produce(ctx context.Context, p control.Produce) (control.Produced, error)
	Lag(group, topic string) (control.Lag, error)
	Consumed(ctx context.Context, group string) (int64, error)

	AddFault(rule fault.Rule) (*fault.Fault, error)
	Faults() []*fault.Fault
	Fault(id string) (*fault.Fault, error)

	Differences() []control.Difference
	Exchanges() []control.Exchange

	Restart(ctx context.Context) error
	Kill(ctx context.Context) error
	Reset(ctx context.Context) error
	Snapshot(ctx context.Context, name string) error
	Restore(ctx context.Context, name string) error
	Snapshots() []string
}
