// Package rewind knows what clients may remember of a store that a test took back to an earlier
// state: how far they had pulled. Only servers for tests have it.
package rewind

import "sync"

// Memory is where the pulls of the earlier life had come to. Its methods are safe for concurrent
// use.
type Memory struct {
	mu   sync.Mutex // guards next
	next map[place]int64
}

type place struct {
	group, topic string
	queueID      int32
}

// New returns a Memory of nothing.
func New() *Memory { return &Memory{next: make(map[place]int64)} }

// Note tells that a group's next pull from a queue would begin at an offset.
func (m *Memory) Note(group, topic string, queueID int32, next int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.next[place{group, topic, queueID}] = next
}

// Take tells whether a pull goes on where the earlier life's ended, and forgets that place: the
// next pull from it is of this life.
func (m *Memory) Take(group, topic string, queueID int32, offset int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := place{group, topic, queueID}
	next, ok := m.next[at]
	delete(m.next, at)
	return ok && next == offset
}

// Has tells whether what comes of a place may be of the earlier life.
func (m *Memory) Has(group, topic string, queueID int32) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.next[place{group, topic, queueID}]
	return ok
}
