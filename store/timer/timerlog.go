package timer

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"sync"

	"github.com/wheelmq/wheelmq/store/region"
)

const (
	defaultChunkSize = 4 << 20
	// chunkStep is how much of a chunk file gets disk space at a time, bytes.
	chunkStep = 128 << 10
)

// timerLog is an append-only sequence of blocks in chunk files of equal size. A position goes on
// from file to file; no block lies in two. Chunks go from anywhere once no slot needs them.
type timerLog struct {
	fs        region.FS
	dir       string
	chunkSize int64
	chunks    []*chunk // in order
	end       int64    // position of the next block

	mu       sync.Mutex // guards what follows, which Sync uses beside the owner
	named    int64      // a state names what is below
	unsynced []span     // what of it is not durable
	newNames bool       // a state names files whose names are not durable
	dropped  []*chunk   // not needed any more; a saved state may name them
}

// chunk is one mapped file of a timerLog.
type chunk struct {
	base     int64 // position of its first byte
	region   region.Region
	reserved int // bytes below have disk space
	readers  int // that may look at it
}

// span is a written part of a chunk.
type span struct {
	chunk    *chunk
	from, to int
}

func chunkName(base int64) string { return fmt.Sprintf("%020d", base) }

func (l *timerLog) path(c *chunk) string { return path.Join(l.dir, chunkName(c.base)) }

// openTimerLog opens the named chunks and deletes all others.
func openTimerLog(opts Options, saved *State) (*timerLog, error) {
	l := &timerLog{fs: opts.FS, dir: path.Join(opts.Dir, "timerlog"), chunkSize: int64(opts.ChunkSize)}
	var named []int64
	if saved != nil {
		l.end, l.named, l.chunkSize, named = saved.LogEnd, saved.LogEnd, int64(saved.ChunkSize), saved.Chunks
	}
	found, err := l.fs.List(l.dir)
	if err != nil {
		return nil, err
	}
	sizes := make(map[int64]int64, len(found))
	for _, e := range found {
		base, err := strconv.ParseInt(e.Name, 10, 64)
		if err == nil && slices.Contains(named, base) {
			sizes[base] = e.Size
			continue
		}
		if err == nil && saved == nil {
			l.passOver(base + e.Size)
		}
		if err := l.fs.Remove(path.Join(l.dir, e.Name)); err != nil {
			return nil, err
		}
	}
	for _, base := range named {
		if err := l.openChunk(base, sizes[base]); err != nil {
			return nil, errors.Join(err, l.close())
		}
	}
	return l, nil
}

// passOver begins the log behind files of a log before it: a state that names those must not take
// other blocks for its own.
func (l *timerLog) passOver(pos int64) {
	if pos > 0 && pos < math.MaxInt64/2 {
		l.end = max(l.end, (pos+l.chunkSize-1)/l.chunkSize*l.chunkSize)
		l.named = l.end
	}
}

func (l *timerLog) openChunk(base, size int64) error {
	c := &chunk{base: base}
	if size != l.chunkSize {
		return fmt.Errorf("%w: %s has %d bytes, not %d", ErrDamaged, l.path(c), size, l.chunkSize)
	}
	var err error
	if c.region, err = l.fs.Open(l.path(c), int(size)); err != nil {
		return err
	}
	l.chunks = append(l.chunks, c)
	return nil
}

// append writes a block and returns its position. After an error nothing has changed.
func (l *timerLog) append(second, prev int64, entries []byte) (pos int64, err error) {
	size := int64(blockHeader + len(entries))
	pos = l.end
	if left := l.chunkSize - pos%l.chunkSize; left < size {
		pos += left
	}
	c, err := l.writable(pos, int(size))
	if err != nil {
		return none, err
	}
	putBlock(c.region.Bytes()[pos-c.base:], second, prev, entries)
	l.end = pos + size
	return pos, nil
}

// writable is the chunk of a position at the end, with space for size bytes. A new one is made
// where there is none.
func (l *timerLog) writable(pos int64, size int) (*chunk, error) {
	base := pos - pos%l.chunkSize
	if n := len(l.chunks); n > 0 && l.chunks[n-1].base == base {
		c := l.chunks[n-1]
		return c, l.reserve(c, int(pos-base), size)
	}
	c := &chunk{base: base}
	var err error
	if c.region, err = l.fs.Open(l.path(c), int(l.chunkSize)); err != nil {
		return nil, fmt.Errorf("timer: %w", err)
	}
	if err := l.reserve(c, int(pos-base), size); err != nil {
		return nil, errors.Join(err, c.region.Close(), l.fs.Remove(l.path(c)))
	}
	l.chunks = append(l.chunks, c)
	return c, nil
}

// reserve puts disk space behind size bytes of a chunk, and more ahead of need.
func (l *timerLog) reserve(c *chunk, at, size int) error {
	if at+size <= c.reserved {
		return nil
	}
	// Space is reserved from the first byte written since the file was opened.
	from := at
	if c.reserved > 0 {
		from = c.reserved
	}
	to := min(max(at+size, from+chunkStep), int(l.chunkSize))
	if err := c.region.Reserve(from, to); err != nil {
		return fmt.Errorf("timer: %w", err)
	}
	c.region.Blank(from, to)
	c.reserved = to
	return nil
}

// leave goes on in another file than the last.
func (l *timerLog) leave() {
	if n := len(l.chunks); n > 0 {
		l.end = max(l.end, l.chunks[n-1].base+l.chunkSize)
	}
}

// index is the number, among those there are, of the chunk that holds a position.
func (l *timerLog) index(pos int64) int {
	i, _ := slices.BinarySearchFunc(l.chunks, pos-pos%l.chunkSize, compareBase)
	return i
}

func compareBase(c *chunk, base int64) int { return cmp.Compare(c.base, base) }

// find is the chunk that holds a position below the end, nil when there is none.
func (l *timerLog) find(pos int64) *chunk {
	if pos < 0 || pos >= l.end {
		return nil
	}
	i, ok := slices.BinarySearchFunc(l.chunks, pos-pos%l.chunkSize, compareBase)
	if !ok {
		return nil
	}
	return l.chunks[i]
}

// place is where a block lies.
type place struct {
	chunk *chunk
	at    int
}

func (p place) bytes() []byte { return p.chunk.region.Bytes()[p.at:] }

// block finds the sound block at a position, of the given second, its entries and the position of
// the one before.
func (l *timerLog) block(pos, second int64) (p place, entries []byte, prev int64, err error) {
	p.chunk = l.find(pos)
	if p.chunk == nil {
		return p, nil, 0, fmt.Errorf("%w: no file has position %d", ErrDamaged, pos)
	}
	p.at = int(pos - p.chunk.base)
	to := min(l.end-pos, maxBlock, l.chunkSize-int64(p.at))
	if entries, prev, err = readBlock(p.bytes()[:to], second); err != nil {
		return p, nil, 0, fmt.Errorf("%s at %d: %w", l.path(p.chunk), p.at, err)
	}
	if prev >= pos {
		return p, nil, 0, fmt.Errorf("%w: a block at %d that follows one at %d", ErrDamaged, pos, prev)
	}
	return p, entries, prev, nil
}

// name makes everything that is written part of what sync makes durable.
func (l *timerLog) name() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.chunks {
		from, to := max(l.named-c.base, 0), min(l.end-c.base, l.chunkSize)
		if from < to {
			l.unsynced = append(l.unsynced, span{c, int(from), int(to)})
			l.newNames = l.newNames || from == 0
		}
	}
	l.named = l.end
}

// sync makes durable what was named.
func (l *timerLog) sync() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.unsynced) > 0 {
		s := l.unsynced[0]
		if err := s.chunk.region.Sync(s.from, s.to); err != nil {
			return fmt.Errorf("timer: sync %s: %w", l.path(s.chunk), err)
		}
		l.unsynced = l.unsynced[1:]
	}
	if l.newNames {
		if err := l.fs.SyncDir(l.dir); err != nil {
			return fmt.Errorf("timer: %w", err)
		}
		l.newNames = false
	}
	return nil
}

// drop gives up the full chunks that are not needed. Their files go when a state without them is saved.
func (l *timerLog) drop(needed func(c *chunk) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.chunks = slices.DeleteFunc(l.chunks, func(c *chunk) bool {
		if needed(c) || l.end < c.base+l.chunkSize {
			return false
		}
		l.dropped = append(l.dropped, c)
		return true
	})
}

// saved deletes the files of dropped chunks that a durable state does not name.
func (l *timerLog) saved(named []int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	l.dropped = slices.DeleteFunc(l.dropped, func(c *chunk) bool {
		if _, is := slices.BinarySearch(named, c.base); is || c.readers > 0 {
			return false
		}
		l.unsynced = slices.DeleteFunc(l.unsynced, func(s span) bool { return s.chunk == c })
		errs = append(errs, c.region.Close(), l.fs.Remove(l.path(c)))
		return true
	})
	return errors.Join(errs...)
}

func (l *timerLog) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for _, c := range append(l.chunks, l.dropped...) {
		errs = append(errs, c.region.Close())
	}
	l.chunks, l.dropped, l.unsynced = nil, nil, nil
	return errors.Join(errs...)
}
