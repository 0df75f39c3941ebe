package region

import (
	"fmt"
	"math"
	"path"
	"sort"
	"strings"
	"sync"
)

// Memory is an FS in memory, for tests and memory-backed brokers. It keeps beside every
// region what was synced, so that Crash can show what a power cut would leave.
type Memory struct {
	mu      sync.Mutex // guards what follows
	regions map[string]*memoryRegion
	files   map[string][]byte
	limit   int64 // bytes that may be reserved, 0: any
	used    int64 // reserved bytes
}

// NewMemory returns an empty Memory.
func NewMemory() *Memory {
	return &Memory{regions: make(map[string]*memoryRegion), files: make(map[string][]byte)}
}

// Open implements FS.
func (m *Memory) Open(name string, size int) (Region, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.regions[name]; r != nil {
		return r, nil
	}
	if size <= 0 {
		return nil, fmt.Errorf("region: %s: size %d cannot be mapped", name, size)
	}
	r := newMemoryRegion(m, make([]byte, size), make([]byte, size))
	m.regions[name] = r
	return r, nil
}

// List implements FS.
func (m *Memory) List(dir string) ([]Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := make(map[string]Entry)
	add := func(name string, size int) {
		rest, below := strings.CutPrefix(name, path.Clean(dir)+"/")
		if !below {
			return
		}
		first, _, deeper := strings.Cut(rest, "/")
		found[first] = Entry{Name: first, Dir: deeper, Size: int64(size)}
	}
	for name, r := range m.regions {
		add(name, len(r.b))
	}
	for name, b := range m.files {
		add(name, len(b))
	}
	entries := make([]Entry, 0, len(found))
	for _, e := range found {
		entries = append(entries, e)
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].Name < entries[j].Name })
	return entries, nil
}

// Remove implements FS.
func (m *Memory) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	below := func(n string) bool { return n == name || strings.HasPrefix(n, name+"/") }
	for n, r := range m.regions {
		if below(n) {
			m.used -= r.reservedBytes()
			delete(m.regions, n)
		}
	}
	for n := range m.files {
		if below(n) {
			delete(m.files, n)
		}
	}
	return nil
}

// ReadFile implements FS.
func (m *Memory) ReadFile(name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.files[name]
	if !ok {
		return nil, fmt.Errorf("region: %s: %w", name, ErrNotExist)
	}
	return append([]byte(nil), b...), nil
}

// SyncDir implements FS. Names are durable at once.
func (m *Memory) SyncDir(string) error { return nil }

// WriteFile implements FS.
func (m *Memory) WriteFile(name string, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files[name] = append([]byte(nil), data...)
	return nil
}

// SetLimit makes the disk as large as that many bytes of reserved space, or endless with 0.
func (m *Memory) SetLimit(bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.limit = bytes
}

// Space implements FS. Without a limit the disk is empty for ever.
func (m *Memory) Space() (Space, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.limit == 0 {
		return Space{Free: math.MaxInt64 / 2}, nil
	}
	return Space{Used: m.used, Free: max(0, m.limit-m.used)}, nil
}

// Crash returns what a power cut now would leave if nothing unsynced survived.
func (m *Memory) Crash() *Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	clone := NewMemory()
	for name, r := range m.regions {
		r.mu.Lock()
		clone.regions[name] = newMemoryRegion(clone, append([]byte(nil), r.synced...), append([]byte(nil), r.synced...))
		r.mu.Unlock()
	}
	for name, b := range m.files {
		clone.files[name] = append([]byte(nil), b...)
	}
	return clone
}

// memoryPage is the unit of a memory disk's space, bytes.
const memoryPage = 4096

type memoryRegion struct {
	fs       *Memory
	b        []byte
	reserved []bool // by page; guarded by fs.mu

	mu     sync.Mutex // guards synced
	synced []byte
}

func newMemoryRegion(fs *Memory, b, synced []byte) *memoryRegion {
	return &memoryRegion{fs: fs, b: b, synced: synced, reserved: make([]bool, (len(b)+memoryPage-1)/memoryPage)}
}

func (r *memoryRegion) Bytes() []byte { return r.b }

func (r *memoryRegion) Reserve(from, to int) error {
	r.fs.mu.Lock()
	defer r.fs.mu.Unlock()
	for page := from / memoryPage; page*memoryPage < to; page++ {
		if r.reserved[page] {
			continue
		}
		if r.fs.limit > 0 && r.fs.used+memoryPage > r.fs.limit {
			return fmt.Errorf("region: reserve %d bytes: %w", to-from, ErrNoSpace)
		}
		r.reserved[page] = true
		r.fs.used += memoryPage
	}
	return nil
}

// reservedBytes needs fs.mu.
func (r *memoryRegion) reservedBytes() (n int64) {
	for _, taken := range r.reserved {
		if taken {
			n += memoryPage
		}
	}
	return n
}

func (r *memoryRegion) Sync(from, to int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	copy(r.synced[from:to], r.b[from:to])
	return nil
}

func (r *memoryRegion) Prefault(int, int) {}
func (r *memoryRegion) Close() error      { return nil }
