// Package difference is the register of everything this server does that the real
// RocketMQ 5.5.0 does not. Each difference has a name, is off under profile=5.5.0, and
// counts how often a client relied on it, so that a green test run does not hide a red
// production.
package difference

import (
	"fmt"
	"sync/atomic"
)

// ID names a difference.
type ID int

// Difference describes one entry of docs/differences.md.
type Difference struct {
	Name  string // kebab-case, stable
	Real  string // what the real 5.5.0 does
	Ours  string // what this server does instead, and why
	Fixed bool   // cannot be switched off: the real behaviour loses or crashes
}

// Set is the differences of one instance: which are on, and how often each was used.
type Set struct {
	off  bool
	used []atomic.Int64
}

// NewSet returns the differences under a profile: "" for all on, "5.5.0" for all off but
// the fixed ones.
func NewSet(profile string) (*Set, error) {
	switch profile {
	case "", "5.5.0":
	default:
		return nil, fmt.Errorf("profile %q is unknown: want 5.5.0 or nothing", profile)
	}
	return &Set{off: profile == "5.5.0", used: make([]atomic.Int64, len(register))}, nil
}

// On tells whether a difference applies.
func (s *Set) On(id ID) bool { return !s.off || register[id].Fixed }

// Use counts that a client relied on a difference and tells whether it applies.
func (s *Set) Use(id ID) bool {
	if !s.On(id) {
		return false
	}
	s.used[id].Add(1)
	return true
}

// Used returns the differences that were relied on, by name, with their counts.
func (s *Set) Used() map[string]int64 {
	out := make(map[string]int64)
	for id := range s.used {
		if n := s.used[id].Load(); n > 0 {
			out[register[id].Name] = n
		}
	}
	return out
}

// Reset forgets what was relied on.
func (s *Set) Reset() {
	for id := range s.used {
		s.used[id].Store(0)
	}
}

// All returns the register in order.
func All() []Difference { return append([]Difference(nil), register[:]...) }
