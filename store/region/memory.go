package region

import (
	"bytes"
	"fmt"
	"math"
	"path"
	"runtime"
	"sort"
	"strings"
	"sync"
)

// Memory is an FS in memory, for tests and memory-backed brokers. It keeps beside every file
// and name what was synced, so that PowerCut can show what a power cut would leave.
type Memory struct {
	mu    sync.Mutex             // guards what follows
	names map[string]*memoryFile // as the process sees them
	kept  map[string]*memoryFile // as of the last SyncDir of each directory
	moves []move                 // between the two, in order
	limit int64                  // bytes that may be reserved, 0: any
	used  int64                  // reserved bytes

	mapped bool // large files are outside of the Go heap
	onSync func()
}

// move is one change of a directory that is not durable yet: a name for a file, or with a nil
// file the end of a name. from is the name that a rename ends.
type move struct {
	name, from string
	file       *memoryFile
}

// NewMemory returns an empty Memory.
func NewMemory() *Memory {
	return &Memory{names: make(map[string]*memoryFile), kept: make(map[string]*memoryFile)}
}

// NewMappedMemory returns an empty Memory whose files are outside of the Go heap: what is not
// written to takes nothing, and the garbage collector does not count them. They go when
// nothing holds them any more.
func NewMappedMemory() *Memory {
	m := NewMemory()
	m.mapped = true
	return m
}

// mappedFrom is the smallest file that is worth its own pages, bytes.
const mappedFrom = 64 << 10

// zeros returns memory for a file.
func (m *Memory) zeros(f *memoryFile, size int) []byte {
	if m.mapped && size >= mappedFrom {
		if b := mapPages(size); b != nil {
			runtime.AddCleanup(f, unmapPages, b)
			return b
		}
	}
	return make([]byte, size)
}

// OnSync has fn called at every point where something is about to become durable: a sync of a
// region, of a small file, of a directory. Set it before the Memory is used; fn may take
// PowerCut clones and, like any caller, use the FS.
func (m *Memory) OnSync(fn func()) { m.onSync = fn }

func (m *Memory) syncPoint() {
	if m.onSync != nil {
		m.onSync()
	}
}

// Open implements FS.
func (m *Memory) Open(name string, size int) (Region, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.names[name]
	if f == nil {
		if size <= 0 {
			return nil, fmt.Errorf("region: %s: %w", name, ErrNotExist)
		}
		f = &memoryFile{fs: m}
		m.put(name, f)
	}
	f.grow(size)
	if len(f.b) == 0 {
		return nil, fmt.Errorf("region: %s: an empty file cannot be mapped", name)
	}
	return f, nil
}

// put gives a file a name, and its directory one when it has none. Caller holds mu.
func (m *Memory) put(name string, f *memoryFile) {
	if dir := path.Dir(name); dir != "." {
		if m.names[dir] == nil {
			m.put(dir, &memoryFile{fs: m, dir: true})
		}
		f.parent = m.names[dir]
	}
	m.names[name] = f
	m.moves = append(m.moves, move{name: name, file: f})
}

// List implements FS.
func (m *Memory) List(dir string) ([]Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir = path.Clean(dir)
	var entries []Entry
	for name, f := range m.names {
		if path.Dir(name) == dir {
			entries = append(entries, Entry{Name: path.Base(name), Dir: f.dir, Size: int64(len(f.b))})
		}
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].Name < entries[j].Name })
	return entries, nil
}

// Remove implements FS.
func (m *Memory) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var gone []string
	for n := range m.names {
		if n == name || strings.HasPrefix(n, name+"/") {
			gone = append(gone, n)
		}
	}
	sort.Sort(sort.Reverse(sort.StringSlice(gone))) // what is in a directory goes before it
	for _, n := range gone {
		m.used -= m.names[n].reservedBytes()
		delete(m.names, n)
		m.moves = append(m.moves, move{name: n})
	}
	return nil
}

// ReadFile implements FS.
func (m *Memory) ReadFile(name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.names[name]
	if f == nil || f.dir {
		return nil, fmt.Errorf("region: %s: %w", name, ErrNotExist)
	}
	return append([]byte(nil), f.b...), nil
}

// SyncDir implements FS.
func (m *Memory) SyncDir(dir string) error {
	m.syncPoint()
	m.mu.Lock()
	defer m.mu.Unlock()
	dir = path.Clean(dir)
	var rest []move
	for _, v := range m.moves {
		if in := path.Dir(v.name); in == dir || in == "." || strings.HasPrefix(dir, in+"/") {
			v.apply(m.kept)
		} else {
			rest = append(rest, v)
		}
	}
	m.moves = rest
	return nil
}

// SyncAll implements FS. One point stands for all the pieces: a power cut before it has lost
// any of them already.
func (m *Memory) SyncAll() error {
	m.syncPoint()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, v := range m.moves {
		v.apply(m.kept)
	}
	m.moves = nil
	for _, f := range m.names {
		f.mu.Lock()
		f.sizeSynced()
		copyChanged(f.synced, f.b)
		f.mu.Unlock()
	}
	return nil
}

// copyChanged copies the pages that differ: those that nobody wrote to take no memory and go on
// taking none.
func copyChanged(to, from []byte) {
	for at := 0; at < len(from); at += memoryPage {
		end := min(at+memoryPage, len(from))
		if !bytes.Equal(to[at:end], from[at:end]) {
			copy(to[at:end], from[at:end])
		}
	}
}

func (v move) apply(names map[string]*memoryFile) {
	delete(names, v.from)
	if v.file == nil {
		delete(names, v.name)
	} else {
		names[v.name] = v.file
	}
}

// WriteFile implements FS by the steps of the real one, each of which the power can cut off.
func (m *Memory) WriteFile(name string, data []byte) error {
	f := m.stage(name, data)
	if err := f.Sync(0, len(data)); err != nil {
		return err
	}
	return m.commit(name, f)
}

// WriteFileUnsynced is WriteFile without the sync of the contents, a mistake that tests of
// power cuts plant to see that they notice it.
func (m *Memory) WriteFileUnsynced(name string, data []byte) error {
	return m.commit(name, m.stage(name, data))
}

func staged(name string) string { return name + ".tmp" }

func (m *Memory) stage(name string, data []byte) *memoryFile {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := &memoryFile{fs: m, b: append([]byte(nil), data...)}
	m.put(staged(name), f)
	return f
}

func (m *Memory) commit(name string, f *memoryFile) error {
	m.mu.Lock()
	delete(m.names, staged(name))
	m.names[name] = f
	m.moves = append(m.moves, move{name: name, from: staged(name), file: f})
	m.mu.Unlock()
	return m.SyncDir(path.Dir(name))
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

// memoryPage is the unit of a memory disk's space and of its writing back, bytes.
const memoryPage = 4096

// memoryFile is a file, small or mapped, or a directory.
type memoryFile struct {
	fs       *Memory
	dir      bool
	parent   *memoryFile // nil below the root
	b        []byte
	reserved map[int]bool // by page; guarded by fs.mu

	mu     sync.Mutex // guards synced
	synced []byte     // what is durable; shorter than b while the size is not
}

// grow makes the file size bytes long when it is shorter.
func (f *memoryFile) grow(size int) {
	if size > len(f.b) {
		grown := f.fs.zeros(f, size)
		copyChanged(grown, f.b)
		f.b = grown
	}
}

func (f *memoryFile) Bytes() []byte { return f.b }

func (f *memoryFile) Reserve(from, to int) error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	for page := from / memoryPage; page*memoryPage < to; page++ {
		if f.reserved[page] {
			continue
		}
		if f.fs.limit > 0 && f.fs.used+memoryPage > f.fs.limit {
			return fmt.Errorf("region: reserve %d bytes: %w", to-from, ErrNoSpace)
		}
		if f.reserved == nil {
			f.reserved = make(map[int]bool)
		}
		f.reserved[page] = true
		f.fs.used += memoryPage
	}
	return nil
}

// reservedBytes needs fs.mu.
func (f *memoryFile) reservedBytes() int64 { return int64(len(f.reserved)) * memoryPage }

// Sync makes exactly the range durable, not the whole pages that a kernel would write.
func (f *memoryFile) Sync(from, to int) error {
	f.fs.syncPoint()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sizeSynced()
	copy(f.synced[from:to], f.b[from:to])
	return nil
}

// sizeSynced makes the size durable. Caller holds mu.
func (f *memoryFile) sizeSynced() {
	if len(f.b) > len(f.synced) {
		grown := f.fs.zeros(f, len(f.b))
		copyChanged(grown, f.synced)
		f.synced = grown
	}
}

func (f *memoryFile) Prefault(int, int) {}

// Blank implements Region. Whoever needs what is there finds out in a test.
func (f *memoryFile) Blank(from, to int) {
	if to = min(to, len(f.b)); from < to {
		clear(f.b[from:to])
	}
}

// Fetch implements Region.
func (f *memoryFile) Fetch(int, int) {}

// Written implements Region: the whole rest, which costs no disk.
func (f *memoryFile) Written(after int) (from, to int) { return min(after, len(f.b)), len(f.b) }

// Zero implements Region: the caller does it.
func (f *memoryFile) Zero(int, int) bool { return false }

func (f *memoryFile) Close() error { return nil }
