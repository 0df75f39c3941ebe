package region

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Scratch is a directory of the machine whose changes nobody sees: they are in memory, and gone with
// it. Files are mapped once, page by page copied when they are written to. Nothing of it is durable.
type Scratch struct {
	base OS
	own  *Memory // what was written

	mu     sync.Mutex
	owned  map[string]bool   // names in own
	gone   []string          // names of base that were removed
	mapped map[string][]byte // whole files of base
}

// NewScratch is a Scratch of a directory, which only its user changes meanwhile.
func NewScratch(root string) *Scratch {
	return &Scratch{
		base: OS{Root: root, ReadOnly: true}, own: NewMappedMemory(), owned: make(map[string]bool), mapped: make(map[string][]byte),
	}
}

// removed tells whether a name of base is gone. The caller holds mu.
func (s *Scratch) removed(name string) bool {
	for _, g := range s.gone {
		if g == name || strings.HasPrefix(name, g+"/") {
			return true
		}
	}
	return false
}

// Open implements FS.
func (s *Scratch) Open(name string, size int) (Region, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name = path.Clean(name)
	if s.owned[name] || s.removed(name) {
		s.owned[name] = true
		return s.own.Open(name, size)
	}
	info, err := os.Stat(s.base.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		s.owned[name] = size > 0
		return s.own.Open(name, size)
	}
	if err != nil {
		return nil, fmt.Errorf("region: %w", err)
	}
	if size == 0 {
		size = int(info.Size())
	}
	if size <= 0 || int64(size) > info.Size() {
		return s.longer(name, size)
	}
	return s.private(name, int(info.Size()), size)
}

// private maps a file, once: who opens it again sees what was written.
func (s *Scratch) private(name string, whole, size int) (Region, error) {
	if b := s.mapped[name]; b != nil {
		return &scratchRegion{b: b[:size:size]}, nil
	}
	f, err := os.Open(s.base.path(name))
	if err != nil {
		return nil, fmt.Errorf("region: %w", err)
	}
	defer f.Close()
	b, err := mapRead(f, whole, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("region: map %s: %w", name, err)
	}
	s.mapped[name] = b
	return &scratchRegion{b: b[:size:size]}, nil
}

// longer copies a file that is shorter than it is to be.
func (s *Scratch) longer(name string, size int) (Region, error) {
	b := s.mapped[name]
	if b == nil {
		var err error
		if b, err = s.base.ReadFile(name); err != nil {
			return nil, err
		}
	}
	r, err := s.own.Open(name, size)
	if err != nil {
		return nil, err
	}
	s.owned[name] = true
	copy(r.Bytes(), b)
	return r, nil
}

// List implements FS.
func (s *Scratch) List(dir string) ([]Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	entries, err := s.own.List(dir)
	if err != nil {
		return nil, err
	}
	have := make(map[string]bool)
	for _, e := range entries {
		have[e.Name] = true
	}
	below, err := s.base.List(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range below {
		if !have[e.Name] && !s.removed(path.Join(path.Clean(dir), e.Name)) {
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	return entries, nil
}

// Remove implements FS.
func (s *Scratch) Remove(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	name = path.Clean(name)
	s.gone = append(s.gone, name)
	for have := range s.owned {
		if have == name || strings.HasPrefix(have, name+"/") {
			delete(s.owned, have)
		}
	}
	for have := range s.mapped {
		if have == name || strings.HasPrefix(have, name+"/") {
			delete(s.mapped, have) // whoever has it open goes on with it
		}
	}
	return s.own.Remove(name)
}

// ReadFile implements FS.
func (s *Scratch) ReadFile(name string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name = path.Clean(name)
	if s.owned[name] || s.removed(name) {
		return s.own.ReadFile(name)
	}
	return s.base.ReadFile(name)
}

// WriteFile implements FS.
func (s *Scratch) WriteFile(name string, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	name = path.Clean(name)
	s.owned[name] = true
	return s.own.WriteFile(name, data)
}

// SyncDir implements FS.
func (s *Scratch) SyncDir(string) error { return nil }

// SyncAll implements FS.
func (s *Scratch) SyncAll() error { return nil }

// Space implements FS.
func (s *Scratch) Space() (Space, error) { return s.base.Space() }

// scratchRegion is a file that is mapped privately.
type scratchRegion struct{ b []byte }

func (r *scratchRegion) Bytes() []byte                { return r.b }
func (r *scratchRegion) Reserve(int, int) error       { return nil }
func (r *scratchRegion) Sync(int, int) error          { return nil }
func (r *scratchRegion) Prefault(int, int)            {}
func (r *scratchRegion) Blank(int, int)               {}
func (r *scratchRegion) Fetch(int, int)               {}
func (r *scratchRegion) Written(after int) (int, int) { return after, len(r.b) }
func (r *scratchRegion) Zero(int, int) bool           { return false }

// Close leaves the mapping to the others who have the file open: it ends with the process.
func (r *scratchRegion) Close() error { return nil }
