// Package health collects one check per service, each with a reason that a human can
// act on.
package health

import (
	"maps"
	"slices"
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
	// Restart tells that the part does not come back by itself: only a restart of the server helps.
	Restart bool `json:"restart,omitempty"`
}

// Check looks at one part. It must be quick and safe for concurrent use.
type Check func() Result

// Registry holds the checks of one instance.
type Registry struct {
	mu      sync.Mutex // guards what follows
	checks  map[string]Check
	serving map[string]bool // parts without which no client can be served
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry {
	return &Registry{checks: make(map[string]Check), serving: make(map[string]bool)}
}

// Register adds or replaces the check of a part.
func (r *Registry) Register(part string, check Check) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.checks[part] = check
}

// RegisterServing is Register for a part without which clients are not served: while it is down
// the server is not ready.
func (r *Registry) RegisterServing(part string, check Check) {
	r.Register(part, check)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.serving[part] = true
}

// Report is the state of the whole, which is its worst part's, and of each part.
type Report struct {
	State State             `json:"state"`
	Parts map[string]Result `json:"parts"`
}

// Report runs every check.
func (r *Registry) Report() Report {
	return r.report(func(string, Result) bool { return true }, func(string) bool { return true })
}

// Ready runs the checks of the parts without which clients are not served.
func (r *Registry) Ready() Report {
	return r.report(func(string, Result) bool { return true }, func(part string) bool { return r.serving[part] })
}

// Live tells of the parts that only a restart of the server brings back; it is up when there is none.
func (r *Registry) Live() Report {
	return r.report(func(_ string, got Result) bool { return got.Restart }, func(string) bool { return true })
}

// report runs the checks of the parts that are asked for, and keeps the results that matter.
func (r *Registry) report(matters func(string, Result) bool, asked func(string) bool) Report {
	r.mu.Lock()
	checks := maps.Clone(r.checks)
	maps.DeleteFunc(checks, func(part string, _ Check) bool { return !asked(part) })
	r.mu.Unlock()
	report := Report{State: Up, Parts: make(map[string]Result, len(checks))}
	for _, part := range slices.Sorted(maps.Keys(checks)) {
		if result := checks[part](); matters(part, result) {
			report.Add(part, result)
		}
	}
	return report
}

// Add takes a part into the report, whose state gets no better by it.
func (r *Report) Add(part string, result Result) {
	r.Parts[part] = result
	if rank(result.State) > rank(r.State) {
		r.State = result.State
	}
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
