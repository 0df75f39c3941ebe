package fault

import (
	"context"
	"fmt"
	"sync"
)

// Fault is a rule in force, or one that is spent or removed. Its methods are safe for concurrent
// use.
type Fault struct {
	rule   Rule
	action action
	rules  *Rules

	mu      sync.Mutex // guards what follows
	seen    int        // requests that Skip counts
	hits    int64
	removed bool
	gone    chan struct{} // closed by Remove
	waiting []waiter
}

// waiter waits for a number of hits.
type waiter struct {
	hits int64
	done chan struct{}
}

// ID is the rule's, chosen when the rule has none.
func (f *Fault) ID() string { return f.rule.ID }

// Rule is what was added, with its ID.
func (f *Fault) Rule() Rule { return f.rule }

// Hits is how often the rule has applied.
func (f *Fault) Hits() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hits
}

// Spent tells that the rule has applied as often as its Count says.
func (f *Fault) Spent() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.spent()
}

func (f *Fault) spent() bool { return f.rule.Count > 0 && f.hits >= int64(f.rule.Count) }

// Wait returns when the rule has applied n times: what it did to the n-th request is done, but
// for an answer on its way. It fails when ctx ends, or when the rule can apply no more.
func (f *Fault) Wait(ctx context.Context, n int64) error {
	f.mu.Lock()
	if f.hits >= n {
		f.mu.Unlock()
		return nil
	}
	if f.rule.Count > 0 && n > int64(f.rule.Count) {
		f.mu.Unlock()
		return fmt.Errorf("fault: %s applies %d times, not %d", f.rule.ID, f.rule.Count, n)
	}
	w := waiter{hits: n, done: make(chan struct{})}
	f.waiting = append(f.waiting, w)
	f.mu.Unlock()
	var err error
	select {
	case <-w.done:
		return nil
	case <-f.gone:
		err = fmt.Errorf("fault: %s is removed", f.rule.ID)
	case <-ctx.Done():
		err = ctx.Err()
	}
	return f.leave(w, err)
}

// leave ends a waiting that did not succeed, unless it has meanwhile.
func (f *Fault) leave(w waiter, err error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.hits >= w.hits {
		return nil
	}
	for i := range f.waiting {
		if f.waiting[i].done == w.done {
			f.waiting = append(f.waiting[:i], f.waiting[i+1:]...)
			break
		}
	}
	return fmt.Errorf("fault: %s applied %d times of %d: %w", f.rule.ID, f.hits, w.hits, err)
}

// Remove ends the rule: it applies to nothing that comes after. What it holds back already
// leaves in its time.
func (f *Fault) Remove() { f.rules.remove(f) }

// end marks the rule removed, once.
func (f *Fault) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.removed {
		f.removed = true
		close(f.gone)
	}
}

// on tells whether the rule is in force.
func (f *Fault) on() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.removed && !f.spent()
}

// take counts a request or an event that the rule is about, and tells whether it applies to it.
func (f *Fault) take() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.removed || f.spent() {
		return false
	}
	if f.seen < f.rule.Skip {
		f.seen++
		return false
	}
	f.hits++
	rest := f.waiting[:0]
	for _, w := range f.waiting {
		if w.hits <= f.hits {
			close(w.done)
		} else {
			rest = append(rest, w)
		}
	}
	clear(f.waiting[len(rest):])
	f.waiting = rest
	return true
}
