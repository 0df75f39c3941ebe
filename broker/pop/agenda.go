package pop

import (
	"cmp"
	"slices"
	"sync"
)

// task is something to look at when it is due: messages of a window in [first, first+n) that may be
// visible again, or, with n == 0, whether the window's block is over.
type task struct {
	due    int64 // ms of message time
	first  int64
	window uint32
	n      uint32
}

// agenda is a heap of tasks, the one that is due first on top. What it says was true when it was
// written: messages that were acknowledged since are passed over.
type agenda struct {
	mu    sync.Mutex
	tasks []task
}

// sweepFrom is how many tasks there are at least before idle ones are looked for.
const sweepFrom = 16_384

func (a *agenda) push(t task) (length int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tasks = append(a.tasks, t)
	a.up(len(a.tasks) - 1)
	return len(a.tasks)
}

// next takes out the first task that is due; otherwise due is when that will be, never: there is none.
func (a *agenda) next(now int64) (t task, due int64, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.tasks) == 0 {
		return task{}, never, false
	}
	if t = a.tasks[0]; t.due > now {
		return task{}, t.due, false
	}
	last := len(a.tasks) - 1
	a.tasks[0] = a.tasks[last]
	a.tasks = a.tasks[:last]
	a.down(0)
	return t, t.due, true
}

// sweep takes out the tasks that nothing is to be done for, and those that are there twice. It looks at
// them without the lock.
func (a *agenda) sweep(wanted func(task) bool) {
	a.mu.Lock()
	looked := a.tasks
	a.tasks = nil
	a.mu.Unlock()
	kept := looked[:0]
	for _, t := range looked {
		if wanted(t) {
			kept = append(kept, t)
		}
	}
	slices.SortFunc(kept, func(a, b task) int {
		return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.window, b.window), cmp.Compare(a.first, b.first), cmp.Compare(a.n, b.n))
	})
	kept = slices.Compact(kept)
	kept = append(make([]task, 0, len(kept)+len(kept)/2), kept...)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tasks = append(kept, a.tasks...)
	for i := len(a.tasks)/2 - 1; i >= 0; i-- {
		a.down(i)
	}
}

func (a *agenda) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !before(&a.tasks[i], &a.tasks[parent]) {
			return
		}
		a.tasks[i], a.tasks[parent] = a.tasks[parent], a.tasks[i]
		i = parent
	}
}

func (a *agenda) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(a.tasks) {
			return
		}
		if child+1 < len(a.tasks) && before(&a.tasks[child+1], &a.tasks[child]) {
			child++
		}
		if !before(&a.tasks[child], &a.tasks[i]) {
			return
		}
		a.tasks[i], a.tasks[child] = a.tasks[child], a.tasks[i]
		i = child
	}
}

func before(a, b *task) bool {
	if a.due != b.due {
		return a.due < b.due
	}
	if a.window != b.window {
		return a.window < b.window
	}
	return a.first < b.first
}

func (a *agenda) len() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.tasks)
}
