// Package health collects one check per service, each with a reason that a human can
// act on.
package health

import (
	"sort"
	"sync"
)

// State of a part or of the whole.
type State string

// States, worst last.
const (
	Up       State = "up"
	Degraded State = "degraded"
	Down     State = "down"
)

// Result is what a check says now. Reason is empty when the part is up.
type Result struct {
	State  State  `json:"state"`
	Reason string `json:"reason,omitempty"`
}

// Check looks at one part. It must be quick and safe for concurrent use.
type Check func() Result

// Registry holds the checks of one instance.
type Registry struct {
	mu     sync.Mutex // guards checks
	checks map[string]Check
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry { return &Registry{checks: make(map[string]Check)} }

// Register adds or replaces the check of a part.
func (r *Registry) Register(part string, check Check) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.checks[part] = check
}

// Report is the state of the whole, which is its worst part's, and of each part.
type Report struct {
	State State             `json:"state"`
	Parts map[string]Result `json:"parts"`
}

// Report runs every check.
func (r *Registry) Report() Report {
	r.mu.Lock()
	names := make([]string, 0, len(r.checks))
	for name := range r.checks {
		names = append(names, name)
	}
	sort.Strings(names)
	checks := make([]Check, len(names))
	for i, name := range names {
		checks[i] = r.checks[name]
	}
	r.mu.Unlock()

	report := Report{State: Up, Parts: make(map[string]Result, len(names))}
	for i, name := range names {
		result := checks[i]()
		report.Parts[name] = result
		if rank(result.State) > rank(report.State) {
			report.State = result.State
		}
	}
	return report
}

func rank(s State) int {
	switch s {
	case Up:
		return 0
	case Degraded:
		return 1
	default:
		return 2
	}
}
