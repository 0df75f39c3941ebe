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
	ListPending(ctx context.Context, f control.PendingFilter) (control.PendingPage, error)
	CountPending(ctx context.Context, f control.PendingFilter, step time.Duration) ([]control.PendingCount, error)
	CancelPending(ctx context.Context, id string) error
	FireNow(ctx context.Context, id string) error
	Reschedule(ctx context.Context, id string, at time.Time) (string, error)
	Parked(ctx context.Context, limit int) (list []control.Parked, total int64, err error)
	Redrive(ctx context.Context, id string) error
	DropParked(ctx context.Context, id string) error
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
