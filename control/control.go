package control

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/wheelmq/wheelmq/broker"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/fault"
	"github.com/wheelmq/wheelmq/remoting/exchangelog"
)

// Server is the running server: its broker, and its ends and beginnings.
type Server interface {
	// Broker is the broker there is, nil while the server is down.
	Broker() *broker.Broker
	Restart(ctx context.Context) error
	Kill(ctx context.Context) error
	Reset(ctx context.Context) error
	Snapshot(ctx context.Context, name string) error
	Restore(ctx context.Context, name string) error
	Snapshots() []string
}

// Options are what a Control needs.
type Options struct {
	Server      Server
	Differences *difference.Set
	Faults      *fault.Rules // nil: a server that is not for tests
	Exchanges   *exchangelog.Log
}

// Control is the tests' hold on one server; it stays over the server's restarts. Its methods
// are safe for concurrent use.
type Control struct {
	Server
	opts Options

	turns    counter
	autoSkip atomic.Bool
}

// New returns the Control of a server.
func New(opts Options) *Control { return &Control{Server: opts.Server, opts: opts} }

// ErrDown is returned while the server is between two lives, or has no broker.
var ErrDown = errors.New("the server is down")

// live is the broker there is.
func (c *Control) live() (*broker.Broker, error) {
	if b := c.opts.Server.Broker(); b != nil {
		return b, nil
	}
	return nil, ErrDown
}

// Differences are what clients relied on that the real broker lacks, in the order of
// docs/differences.md.
func (c *Control) Differences() []Difference {
	used := c.opts.Differences.Used()
	var list []Difference
	for _, d := range difference.All() {
		if n := used[d.Name]; n > 0 {
			list = append(list, Difference{Name: d.Name, Count: n, Real: d.Real, Ours: d.Ours})
		}
	}
	return list
}
