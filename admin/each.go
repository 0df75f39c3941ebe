package admin

import (
	"sync"
	"sync/atomic"
)

// atOnce is how many requests of one task are under way at most.
const atOnce = 16

// each calls do for 0 to n-1, several at once, and tells show how many are done. It ends with the first
// error.
func each(n int, show func(done, total int64), do func(i int) error) error {
	var (
		next, done atomic.Int64
		workers    sync.WaitGroup
		mu         sync.Mutex // guards first, and makes show take turns
		first      error
	)
	work := func() {
		for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
			err := do(int(i))
			mu.Lock()
			if err != nil && first == nil {
				first = err
				next.Store(int64(n))
			}
			show(done.Add(1), int64(n))
			mu.Unlock()
		}
	}
	for range min(n, atOnce) {
		workers.Go(work)
	}
	workers.Wait()
	return first
}

// quietly is for who wants to be shown nothing.
func quietly(int64, int64) {}
