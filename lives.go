package wheelmq

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/wheelmq/wheelmq/broker"
	"github.com/wheelmq/wheelmq/broker/rewind"
	"github.com/wheelmq/wheelmq/control"
	"github.com/wheelmq/wheelmq/store"
	"github.com/wheelmq/wheelmq/store/region"
)

// current is the life there is, nil between two.
func (i *Instance) current() *life {
	i.mu.RLock()
	defer i.mu.RUnlock()
	return i.life
}

// leave takes the life away from everybody, for the reason that is shown meanwhile.
func (i *Instance) leave(why error) *life {
	i.mu.Lock()
	defer i.mu.Unlock()
	l := i.life
	i.life, i.beginning, i.down = nil, nil, why
	return l
}

// begin starts a life on the store there is.
func (i *Instance) begin() error {
	i.mu.Lock()
	l := &life{
		cfg: &i.cfg, ports: &i.ports, log: i.log, memory: i.memory, differences: i.differences, faults: i.faults,
		exchanges: i.exchanges, rewound: i.rewound.Load(),
	}
	i.beginning = l
	i.mu.Unlock()
	if err := l.begin(); err != nil {
		err = errors.Join(err, l.close(context.Background()))
		i.leave(err)
		return err
	}
	i.mu.Lock()
	i.life, i.beginning, i.down = l, nil, nil
	i.mu.Unlock()
	if l.broker != nil {
		i.control.Began(l.broker)
	}
	return nil
}

// replace ends the life there is and begins another on what end leaves. An end that goes wrong is
// an error, and yet the next life begins. When the last begin failed there is none to end: end
// gets a life that never began.
func (i *Instance) replace(why string, end func(*life) error) error {
	i.turn.Lock()
	defer i.turn.Unlock()
	l := i.leave(errors.New(why))
	if l == nil {
		l = new(life)
	}
	return errors.Join(end(l), i.begin())
}

// closeTested closes a life. That a test had broken its store is no error.
func (i *Instance) closeTested(ctx context.Context, l *life) error {
	err := l.close(ctx)
	if i.faults != nil && errors.Is(err, store.ErrBroken) {
		i.log.WithError(err).Warn("what was stopped had broken down")
		return nil
	}
	return err
}

// Restart stops the server as SIGTERM would and starts it again on the same ports and store.
func (i *Instance) Restart(ctx context.Context) error {
	return i.replace("restarting", func(l *life) error { return i.closeTested(ctx, l) })
}

// Kill takes the power away and starts the server again on the same ports: connections break
// off without an answer, and what was not durable is lost. With a store on a real disk that is
// what kill -9 leaves: the machine keeps what was written.
func (i *Instance) Kill(ctx context.Context) error {
	return i.replace("killed", func(l *life) error {
		l.cut()
		if !i.inMemory() {
			if l.broker != nil {
				l.broker.Kill()
			}
			return l.close(ctx)
		}
		left := i.memory.Crash()
		// What the services still save on their way out goes to what is dropped.
		if err := l.close(ctx); err != nil {
			i.log.WithError(err).Debug("closing what was killed")
		}
		i.setMemory(left)
		return nil
	})
}

// controlled is the instance as control sees it.
type controlled struct{ *Instance }

// Broker implements control.Server.
func (c controlled) Broker() *broker.Broker {
	if l := c.current(); l != nil {
		return l.broker
	}
	return nil
}

// rewind makes the next life one on another store, of which clients may remember more than it
// has; l is the life that ended, or nil.
func (i *Instance) rewind(l *life, m *region.Memory) {
	i.setMemory(m)
	remembered := rewind.New()
	if l != nil && l.broker != nil {
		l.broker.Remember(remembered)
	}
	i.rewound.Store(remembered)
}

// inMemory tells where the store is, which all lives have in common.
func (i *Instance) inMemory() bool { return i.cfg.Test != nil && i.cfg.Test.Memory }

func (i *Instance) setMemory(m *region.Memory) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.memory = m
}

// errNotInMemory is returned for what only a store in memory can do.
var errNotInMemory = errors.New("wheelmq: only with a store in memory")

// Reset starts anew on the same ports with an empty store.
func (i *Instance) Reset(ctx context.Context) error {
	if !i.inMemory() {
		return fmt.Errorf("reset: %w", errNotInMemory)
	}
	return i.replace("resetting", func(l *life) error {
		// First, so that no rule is in the way of the end.
		i.faults.Clear()
		err := i.closeTested(ctx, l)
		i.differences.Reset()
		i.control.Forget()
		i.exchanges.Clear()
		i.rewind(l, region.NewMappedMemory())
		return err
	})
}

// Snapshot keeps the state of the server under a name, until the instance is closed: what is
// stored, offsets, and where a virtual clock stands. Clients notice nothing.
func (i *Instance) Snapshot(_ context.Context, name string) error {
	if !i.inMemory() {
		return fmt.Errorf("snapshot: %w", errNotInMemory)
	}
	i.turn.Lock()
	defer i.turn.Unlock()
	l := i.current()
	if l == nil {
		return errors.New("snapshot: the server is down")
	}
	if l.broker != nil {
		if err := l.broker.Save(); err != nil {
			return fmt.Errorf("snapshot: %w", err)
		}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.snapshots == nil {
		i.snapshots = make(map[string]*region.Memory)
	}
	i.snapshots[name] = i.memory.Crash()
	return nil
}

// Snapshots are the names of what was kept, sorted.
func (i *Instance) Snapshots() []string {
	i.mu.RLock()
	defer i.mu.RUnlock()
	return slices.Sorted(maps.Keys(i.snapshots))
}

// Restore starts anew on the same ports with the state of a snapshot, which stays.
func (i *Instance) Restore(ctx context.Context, name string) error {
	i.mu.RLock()
	kept := i.snapshots[name]
	i.mu.RUnlock()
	if kept == nil {
		return fmt.Errorf("snapshot %q: %w", name, control.ErrNotFound)
	}
	return i.replace("restoring", func(l *life) error {
		err := i.closeTested(ctx, l)
		i.rewind(l, kept.Crash())
		return err
	})
}
