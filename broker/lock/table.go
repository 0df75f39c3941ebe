package lock

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/metrics"
)

// MaxLiveMillis is how long a lock outlives its last renewal
// (rocketmq.broker.rebalance.lockMaxLiveTime).
const MaxLiveMillis = 60_000

// Queue names one queue of one broker.
type Queue struct {
	Topic      string
	BrokerName string
	QueueID    int32
}

type held struct {
	clientID string
	renewed  int64 // ms
}

func (h held) expired(now int64) bool { return now-h.renewed > MaxLiveMillis }

// Table is every group's locks. Its methods are safe for concurrent use.
type Table struct {
	wire   clock.Clock
	mu     sync.Mutex // guards groups
	groups map[string]map[Queue]held
}

// NewTable returns an empty table on the wire clock.
func NewTable(wire clock.Clock) *Table {
	return &Table{wire: wire, groups: make(map[string]map[Queue]held)}
}

// Register puts the number of held locks into the instance's metrics.
func (t *Table) Register(registry prometheus.Registerer) error {
	return metrics.Register(registry, "lock", metrics.Gauge("wheelmq_queue_locks", "Queues locked by orderly consumers.", t.Len))
}

// Lock takes or renews those of queues that no other client holds and returns the ones
// the client holds now, in the order asked for.
func (t *Table) Lock(group, clientID string, queues []Queue) []Queue {
	now := t.wire.NowMillis()
	t.mu.Lock()
	defer t.mu.Unlock()
	locks := t.groups[group]
	if locks == nil {
		locks = make(map[Queue]held)
		t.groups[group] = locks
	}
	forgetExpired(locks, now)
	granted := make([]Queue, 0, len(queues))
	for _, queue := range queues {
		if holder, ok := locks[queue]; ok && holder.clientID != clientID {
			continue
		}
		locks[queue] = held{clientID: clientID, renewed: now}
		granted = append(granted, queue)
	}
	if len(locks) == 0 {
		delete(t.groups, group)
	}
	return granted
}

// Unlock frees those of queues that the client holds; another's lock stays.
func (t *Table) Unlock(group, clientID string, queues []Queue) {
	t.mu.Lock()
	defer t.mu.Unlock()
	locks := t.groups[group]
	for _, queue := range queues {
		if locks[queue].clientID == clientID {
			delete(locks, queue)
		}
	}
	if len(locks) == 0 {
		delete(t.groups, group)
	}
}

// AnyHeld tells whether a client of the group holds a lock that has not expired: the
// group consumes orderly.
func (t *Table) AnyHeld(group string) bool {
	now := t.wire.NowMillis()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, holder := range t.groups[group] {
		if !holder.expired(now) {
			return true
		}
	}
	return false
}

// DeleteGroup forgets a group's locks.
func (t *Table) DeleteGroup(group string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.groups, group)
}

// Len is the number of locks held, for the metrics.
func (t *Table) Len() int {
	now := t.wire.NowMillis()
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for group, locks := range t.groups {
		forgetExpired(locks, now)
		if len(locks) == 0 {
			delete(t.groups, group)
		}
		n += len(locks)
	}
	return n
}

func forgetExpired(locks map[Queue]held, now int64) {
	for queue, holder := range locks {
		if holder.expired(now) {
			delete(locks, queue)
		}
	}
}
