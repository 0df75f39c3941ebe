package timer

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"path"
	"slices"
)

// manifest is the far part of a state: every segment and run with what of it counts.
type manifest struct {
	chunk    int64
	hoursEnd int64
	nextID   uint64
	segments []namedSegment
	runs     []namedRun
}

type namedSegment struct {
	bucket  bucket
	id      uint64
	length  int64
	count   int64
	maxLog  int64
	minSlot int64
	first   earliest
}

type namedRun struct {
	bucket bucket
	id     uint64
	length int64
	count  int64 // of the parts that are left
	gone   int64
	taken  uint32
}

const manifestVersion = 1

// append appends the manifest: a version, then numbers as varints. The state around it has the
// checksum.
func (m *manifest) append(b []byte) []byte {
	b = append(b, manifestVersion)
	put := func(numbers ...int64) {
		for _, v := range numbers {
			b = binary.AppendVarint(b, v)
		}
	}
	put(m.chunk, m.hoursEnd, int64(m.nextID), int64(len(m.segments)))
	for _, s := range m.segments {
		put(flag(s.bucket.day), s.bucket.n, int64(s.id), s.length, s.count, s.maxLog, s.minSlot-s.bucket.begin())
		b = s.first.append(b, s.bucket.begin())
	}
	put(int64(len(m.runs)))
	for _, r := range m.runs {
		put(flag(r.bucket.day), r.bucket.n, int64(r.id), r.length, r.count, r.gone, int64(r.taken))
	}
	return b
}

// decode reads what append wrote. The error wraps ErrDamaged when b is anything else.
func (m *manifest) decode(b []byte) error {
	if len(b) == 0 || b[0] != manifestVersion {
		return fmt.Errorf("%w: no state of far entries, or one of another version", ErrDamaged)
	}
	d := numbers{b: b[1:]}
	m.chunk = d.next(1, math.MaxInt32)
	m.hoursEnd = d.next(0, maxSecond+secondsPerDay)
	m.nextID = uint64(d.next(0, math.MaxInt64))
	for n := d.length(8); n > 0 && !d.bad; n-- {
		s := namedSegment{bucket: decodeBucket(&d), id: uint64(d.next(0, math.MaxInt64))}
		s.length = d.next(0, math.MaxInt64)
		s.count = d.next(0, s.length/storedHeader)
		s.maxLog = d.next(-1, math.MaxInt64)
		s.minSlot = s.bucket.begin() + d.next(0, s.bucket.seconds()-1)
		s.first = decodeEarliest(&d, s.bucket.begin(), s.bucket.seconds())
		m.segments = append(m.segments, s)
	}
	for n := d.length(7); n > 0 && !d.bad; n-- {
		r := namedRun{bucket: decodeBucket(&d), id: uint64(d.next(0, math.MaxInt64))}
		r.length = d.next(0, math.MaxInt64)
		r.count = d.next(0, r.length/storedHeader)
		r.gone = d.next(0, r.bucket.parts())
		r.taken = uint32(d.next(0, math.MaxUint32))
		m.runs = append(m.runs, r)
	}
	if d.bad || len(d.b) != 0 {
		return fmt.Errorf("%w: the numbers of a state of far entries make no sense", ErrDamaged)
	}
	return nil
}

// unsynced is a part of an extent that a state names and that may not be durable.
type unsynced struct {
	extent   extent
	from, to int64
}

// state implements farPart. All is written already.
func (f *far) state() ([]byte, error) {
	m := manifest{chunk: f.chunk, hoursEnd: f.hoursEnd, nextID: f.nextID}
	f.unsynced, f.newNames = f.unsynced[:0], false
	for _, list := range f.segments {
		for _, s := range list {
			if s.count > 0 {
				m.segments = append(m.segments, namedSegment{s.bucket, s.id, s.length, s.count, s.maxLog, s.minSlot, s.first})
			}
			f.name(s)
		}
	}
	for _, runs := range []map[int64]*run{f.hours, f.days} {
		for _, r := range runs {
			count, _ := r.left()
			m.runs = append(m.runs, namedRun{r.bucket, r.id, r.length, count, r.gone, r.taken})
		}
	}
	slices.SortFunc(m.segments, func(a, b namedSegment) int { return cmp.Compare(a.id, b.id) })
	slices.SortFunc(m.runs, func(a, b namedRun) int { return cmp.Compare(a.id, b.id) })
	return m.append(nil), nil
}

// name notes what of a segment is to be made durable for a state.
func (f *far) name(s *segment) {
	to := max(s.length, s.dirty)
	if to <= s.durable {
		return
	}
	f.unsynced = append(f.unsynced, unsynced{s.x.apart(), s.durable, to})
	if s.durable == 0 || (s.durable-1)/f.chunk != (to-1)/f.chunk {
		f.newNames = true
	}
}

// manyUnsynced is from how many files on one sync of everything is cheaper.
const manyUnsynced = 16

// sync implements farPart. Runs are durable since they were made.
func (f *far) sync() error {
	if len(f.unsynced) >= manyUnsynced {
		if err := f.opts.FS.SyncAll(); err != nil {
			return fmt.Errorf("timer: %w", err)
		}
		return nil
	}
	for i := range f.unsynced {
		u := &f.unsynced[i]
		err := u.extent.sync(u.from, u.to)
		u.extent.close()
		if err != nil {
			return err
		}
	}
	if f.newNames {
		if err := f.opts.FS.SyncDir(path.Clean(f.dir)); err != nil {
			return fmt.Errorf("timer: %w", err)
		}
	}
	return nil
}
