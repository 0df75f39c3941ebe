package store

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/wheelmq/wheelmq/store/region"
)

// file is one file of the CommitLog or of a ConsumeQueue. It is mapped when somebody first
// holds it and unmapped by the budget when nobody does, or for good when it is discarded.
type file struct {
	fs     region.FS
	budget *budget
	name   string
	start  int64 // offset of its first byte in the log or queue
	size   int64 // bytes

	// users counts the holders, plus one while the file is mapped; 0: not mapped.
	users   atomic.Int64
	touched atomic.Bool // held since the budget last looked
	// writing keeps the file mapped: its pages are written without a hold.
	writing atomic.Bool
	release func()

	mu     sync.Mutex // guards gone, and region and b while users is 0
	gone   bool
	region region.Region
	b      []byte
}

func newFile(fs region.FS, b *budget, name string, start, size int64) *file {
	f := &file{fs: fs, budget: b, name: name, start: start, size: size}
	f.release = f.drop
	return f
}

var errDeleted = errors.New("the file is deleted")

// hold keeps the file mapped until drop. It fails when the file is gone or cannot be mapped.
func (f *file) hold() error {
	for {
		n := f.users.Load()
		if n == 0 {
			if mapped, err := f.mapIn(); mapped || err != nil {
				return err
			}
			continue
		}
		if f.users.CompareAndSwap(n, n+1) {
			if !f.touched.Load() {
				f.touched.Store(true)
			}
			return nil
		}
	}
}

// mapIn maps the file for its first holder; false when somebody else was faster.
func (f *file) mapIn() (mapped bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gone {
		return false, fmt.Errorf("store: %s: %w", f.name, errDeleted)
	}
	if f.users.Load() > 0 {
		return false, nil
	}
	r, err := f.fs.Open(f.name, int(f.size))
	if err != nil {
		return false, err
	}
	f.region, f.b = r, r.Bytes()
	f.touched.Store(true)
	f.users.Store(2)
	f.budget.add(f)
	return true, nil
}

// drop ends a hold.
func (f *file) drop() {
	if f.users.Add(-1) == 0 {
		f.mu.Lock()
		f.unmap()
		f.mu.Unlock()
	}
}

// unmap needs mu and no users.
func (f *file) unmap() {
	// Unmapping a valid mapping fails only by a programmer's error; nothing is lost.
	_ = f.region.Close()
	f.region, f.b = nil, nil
}

// evict unmaps the file unless it is in use, and tells whether it is unmapped.
func (f *file) evict() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gone {
		return true
	}
	if f.writing.Load() || !f.users.CompareAndSwap(1, 0) {
		return false
	}
	f.unmap()
	return true
}

// discard ends the file's use: it is unmapped when the last holder drops it, and never again
// mapped. What is on disk stays.
func (f *file) discard() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gone {
		return
	}
	f.gone = true
	if f.users.Load() > 0 && f.users.Add(-1) == 0 {
		f.unmap()
	}
}

// sync makes a range durable, bytes from the file's beginning. Retention may delete a file that
// a flush under way is about to sync: nothing of it is left to be made durable.
func (f *file) sync(from, to int64) error {
	if err := f.hold(); errors.Is(err, errDeleted) {
		return nil
	} else if err != nil {
		return err
	}
	defer f.drop()
	return f.region.Sync(int(from), int(to))
}
