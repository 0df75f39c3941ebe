package region

import (
	"fmt"
	"path"
	"sync"

	"golang.org/x/sys/unix"
)

// Faults say when a Faulty tree fails, and why. They are asked at every call that may fail and
// must be quick.
type Faults interface {
	// NoSpace is why no space is left; nil: what there is.
	NoSpace() error
	// NoSync is why a sync fails; nil: it goes on.
	NoSync() error
}

// Faulty is a tree over another one whose disk fills up, and whose syncs fail, when a test wants
// it. While the disk is full, what is removed is the only space there is.
type Faulty struct {
	FS
	faults Faults

	mu    sync.Mutex // guards freed
	freed int64      // removed since the disk is full and not taken again, bytes
}

// NewFaulty returns a Faulty over a tree.
func NewFaulty(over FS, faults Faults) *Faulty { return &Faulty{FS: over, faults: faults} }

// Open implements FS.
func (f *Faulty) Open(name string, size int) (Region, error) {
	r, err := f.FS.Open(name, size)
	if err != nil {
		return nil, err
	}
	return faultyRegion{Region: r, tree: f, name: name}, nil
}

// Remove implements FS.
func (f *Faulty) Remove(name string) error {
	if f.faults.NoSpace() == nil {
		return f.FS.Remove(name)
	}
	size, err := f.size(name)
	if err != nil {
		return err
	}
	if err := f.FS.Remove(name); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.freed += size
	return nil
}

// size is that of a file, bytes; of a directory, or a missing file, it is 0.
func (f *Faulty) size(name string) (int64, error) {
	entries, err := f.List(path.Dir(name))
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		if e.Name == path.Base(name) && !e.Dir {
			return e.Size, nil
		}
	}
	return 0, nil
}

// take uses space, or for a moment only what must be there.
func (f *Faulty) take(name string, size int64, keep bool) error {
	why := f.faults.NoSpace()
	f.mu.Lock()
	defer f.mu.Unlock()
	if why == nil {
		f.freed = 0
		return nil
	}
	if f.freed < size {
		return fmt.Errorf("region: reserve %d bytes for %s: %w %w", size, name, ErrNoSpace, why)
	}
	if keep {
		f.freed -= size
	}
	return nil
}

func (f *Faulty) noSync(name string) error {
	if err := f.faults.NoSync(); err != nil {
		return fmt.Errorf("region: sync %s: %w", name, err)
	}
	return nil
}

// WriteFile implements FS. The file that is replaced gives its space back.
func (f *Faulty) WriteFile(name string, data []byte) error {
	if err := f.take(name, int64(len(data)), false); err != nil {
		return err
	}
	if err := f.noSync(name); err != nil {
		return err
	}
	return f.FS.WriteFile(name, data)
}

// SyncDir implements FS.
func (f *Faulty) SyncDir(dir string) error {
	if err := f.noSync(dir); err != nil {
		return err
	}
	return f.FS.SyncDir(dir)
}

// SyncAll implements FS.
func (f *Faulty) SyncAll() error {
	if err := f.noSync("all"); err != nil {
		return err
	}
	return f.FS.SyncAll()
}

// Space implements FS. That of a disk which is full by a fault cannot be told: nothing is to be
// deleted for it.
func (f *Faulty) Space() (Space, error) {
	if err := f.faults.NoSpace(); err != nil {
		return Space{}, fmt.Errorf("region: %w %w", ErrNoSpace, err)
	}
	return f.FS.Space()
}

type faultyRegion struct {
	Region
	tree *Faulty
	name string
}

func (r faultyRegion) Reserve(from, to int) error {
	if there, ok := r.Region.(spacious); !ok || !there.hasSpace(from, to) {
		if err := r.tree.take(r.name, int64(max(0, to-from)), true); err != nil {
			return err
		}
	}
	return r.Region.Reserve(from, to)
}

// spacious are regions that know whether a range has space behind it, which needs none again.
type spacious interface {
	hasSpace(from, to int) bool
}

func (f *memoryFile) hasSpace(from, to int) bool {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	for page := from / memoryPage; page*memoryPage < to; page++ {
		if !f.reserved[page] {
			return false
		}
	}
	return true
}

// hasSpace goes by how many blocks the file has: space is reserved from its beginning on.
func (r *osRegion) hasSpace(_, to int) bool {
	var st unix.Stat_t
	return unix.Stat(r.path, &st) == nil && st.Blocks*512 >= int64(to)
}

func (r faultyRegion) Sync(from, to int) error {
	if err := r.tree.noSync(r.name); err != nil {
		return err
	}
	return r.Region.Sync(from, to)
}
