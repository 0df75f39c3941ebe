package region

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
)

// sector is what a disk writes whole, bytes: a page that was being written may be torn there.
const sector = 512

// Crash returns what a power cut now would leave if nothing unsynced survived. Files may be
// written to meanwhile.
func (m *Memory) Crash() *Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.clone(m.kept, func(f, left *memoryFile) {
		f.mu.Lock()
		defer f.mu.Unlock()
		left.b, left.synced = left.copied(f.synced), left.copied(f.synced)
	})
}

// copied returns the bytes of another file in memory of f's. Pages of zeros stay untouched.
func (f *memoryFile) copied(b []byte) []byte {
	out := f.fs.zeros(f, len(b))
	for at := 0; at < len(b); at += memoryPage {
		if page := b[at:min(at+memoryPage, len(b))]; !bytes.Equal(page, zeroPage[:len(page)]) {
			copy(out[at:], page)
		}
	}
	return out
}

var zeroPage [memoryPage]byte

// PowerCut returns what a power cut now may leave: of all that was not synced, each page of a
// file, its size and each change of a directory are kept or lost on their own, and pages may be
// torn. The same random numbers leave the same.
func (m *Memory) PowerCut(rng *rand.Rand) *Memory {
	// Many cuts spare nearly all or nearly nothing.
	spared := []float64{0, 0.1, 0.5, 0.9, 1}[rng.IntN(5)]
	return m.powerCut(func() fate {
		switch {
		case rng.IntN(8) == 0:
			return fate(rng.Uint32())
		case rng.Float64() < spared:
			return kept
		default:
			return lost
		}
	})
}

// Killed returns what a kill of the process now would leave: all that was written.
func (m *Memory) Killed() *Memory { return m.powerCut(func() fate { return kept }) }

// fate is what becomes of an unsynced page: a bit for each sector tells whether it is kept.
type fate uint8

const (
	lost fate = 0
	kept fate = 1<<(memoryPage/sector) - 1
)

// whole is the fate of what cannot be torn: whether it is kept.
func (f fate) whole() bool { return f&1 == 1 }

func (m *Memory) powerCut(next func() fate) *Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	names := make(map[string]*memoryFile, len(m.kept))
	maps.Copy(names, m.kept)
	for _, v := range m.moves {
		if next().whole() {
			v.apply(names)
		}
	}
	return m.clone(names, func(f, left *memoryFile) { f.remains(left, next) })
}

// clone is a tree of the given names, whose contents fill makes. Caller holds mu.
func (m *Memory) clone(names map[string]*memoryFile, fill func(f, left *memoryFile)) *Memory {
	clone := NewMemory()
	clone.mapped = m.mapped
	for _, name := range sortedNames(names) {
		// A directory sorts before what is in it; a name may be of one that is lost.
		dir := path.Dir(name)
		if names[dir] != names[name].parent || dir != "." && clone.names[dir] == nil {
			continue
		}
		f := &memoryFile{fs: clone, dir: names[name].dir, parent: clone.names[dir]}
		fill(names[name], f)
		clone.names[name], clone.kept[name] = f, f
	}
	return clone
}

func sortedNames(names map[string]*memoryFile) []string {
	list := make([]string, 0, len(names))
	for name := range names {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// remains makes left the file after the power cut.
func (f *memoryFile) remains(left *memoryFile, next func() fate) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := append([]byte(nil), f.synced...)
	if len(f.b) > len(b) && next().whole() {
		b = append(b, make([]byte, len(f.b)-len(b))...)
	}
	for at := 0; at < len(b); at += memoryPage {
		end := min(at+memoryPage, len(b))
		if bytes.Equal(b[at:end], f.b[at:end]) {
			continue
		}
		for s, kept := at, next(); s < end; s, kept = s+sector, kept>>1 {
			if kept&1 == 1 {
				copy(b[s:min(s+sector, end)], f.b[s:end])
			}
		}
	}
	left.b, left.synced = b, append([]byte(nil), b...)
}

// WriteBack makes some unsynced pages durable, as a kernel does whenever it likes.
func (m *Memory) WriteBack(rng *rand.Rand) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range sortedNames(m.names) {
		f := m.names[name]
		f.mu.Lock()
		for at := 0; at < len(f.b); at += memoryPage {
			end := min(at+memoryPage, len(f.b))
			dirty := end > len(f.synced) || !bytes.Equal(f.b[at:end], f.synced[at:end])
			if dirty && rng.IntN(4) == 0 {
				f.sizeSynced()
				copy(f.synced[at:end], f.b[at:end])
			}
		}
		f.mu.Unlock()
	}
}
