package store

import "sync"

// defaultMappedFiles leaves most of what Linux allows a process (vm.max_map_count, 65,530) to
// others.
const defaultMappedFiles = 16_384

// budget bounds how many files are mapped at a time. It is soft: files that are written to, or
// held, stay.
type budget struct {
	limit int
	over  chan struct{} // asks for a trim

	mu     sync.Mutex // guards mapped
	mapped []*file
}

func newBudget(limit int) *budget {
	return &budget{limit: limit, over: make(chan struct{}, 1)}
}

func (b *budget) add(f *file) {
	b.mu.Lock()
	b.mapped = append(b.mapped, f)
	n := len(b.mapped)
	b.mu.Unlock()
	if n > b.limit {
		select {
		case b.over <- struct{}{}:
		default:
		}
	}
}

// trim unmaps files down to nine tenths of the limit, those first that nobody has looked at
// since the last time.
func (b *budget) trim() {
	b.mu.Lock()
	files := b.mapped
	b.mapped = nil
	b.mu.Unlock()
	excess := len(files) - b.limit*9/10
	kept := files[:0]
	for _, sparing := range []bool{true, false} {
		kept = files[:0]
		for _, f := range files {
			if excess > 0 && !(sparing && f.touched.Swap(false)) && f.evict() {
				excess--
				continue
			}
			kept = append(kept, f)
		}
		files = kept
	}
	b.mu.Lock()
	b.mapped = append(b.mapped, kept...)
	b.mu.Unlock()
}

// count is how many files are mapped. Those that were discarded are in the list until it is trimmed.
func (b *budget) count() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.mapped {
		if f.users.Load() > 0 {
			n++
		}
	}
	return n
}
