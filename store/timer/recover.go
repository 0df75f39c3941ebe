package timer

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"path"
	"strings"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/store/region"
)

// openFar opens the far part: with saved, the state a checkpoint has kept, everything is cut to
// what that names; with nil, what is there is scanned. Entries whose record lies at logEnd or
// behind are cut.
func openFar(opts Options, saved []byte, logEnd int64) (farPart, error) {
	f := newFar(opts)
	var m manifest
	if saved != nil {
		if err := m.decode(saved); err != nil {
			return nil, err
		}
		f.chunk, f.hoursEnd, f.nextID = m.chunk, m.hoursEnd, m.nextID
	}
	r := recovery{far: f, logEnd: logEnd, files: make(map[string]*files)}
	if err := r.list(); err != nil {
		return nil, err
	}
	var err error
	if saved != nil {
		err = r.restore(&m)
	} else {
		err = r.scan()
	}
	if err == nil {
		err = r.clearTails()
	}
	if err == nil {
		err = r.removeRest(saved != nil)
	}
	if err != nil {
		return nil, fmt.Errorf("recover far timers: %w", err)
	}
	f.findUnsorted()
	return f, nil
}

// recovery makes a far of what is on disk.
type recovery struct {
	far    *far
	logEnd int64
	files  map[string]*files // by name of their extent; what is left at the end goes
	tmp    []string          // names of files that were never finished
	tails  []*segment        // to be cleared behind their ends
}

// files are those of an extent.
type files struct {
	found
	name   string
	chunks map[int64]int64 // size by number
	index  bool
}

// list finds out what there is.
func (r *recovery) list() error {
	entries, err := r.far.opts.FS.List(r.far.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		n, ok := parseName(e.Name)
		if !ok {
			if strings.HasSuffix(e.Name, ".tmp") {
				r.tmp = append(r.tmp, e.Name)
			}
			continue
		}
		name := extentName(n.bucket, n.kind, n.id)
		f := r.files[name]
		if f == nil {
			f = &files{found: n, name: name, chunks: make(map[int64]int64)}
			r.files[name] = f
		}
		if f.index = f.index || n.index; !n.index {
			f.chunks[n.chunk] = e.Size
		}
		r.far.nextID = max(r.far.nextID, n.id+1)
	}
	return nil
}

// keep takes the files of an extent out of those that go. It tells whether all of the given chunks
// are whole; the extent knows then which are missing.
func (r *recovery) keep(x *extent, numbers iter.Seq[int64]) (whole bool) {
	f := r.files[path.Base(x.name)]
	delete(r.files, path.Base(x.name))
	whole = true
	for n := range numbers {
		size, there := int64(0), false
		if f != nil {
			size, there = f.chunks[n]
		}
		if !there || size == 0 {
			x.missing = append(x.missing, n)
		}
		if size < x.chunk {
			whole = false
			r.far.opts.Log.WithFields(logrus.Fields{"file": chunkFile(x.name, n), "bytes": size, "of": x.chunk}).
				Error("damaged: a file of pending messages is missing or too short")
		}
	}
	return whole
}

// recount is how many sound records a stretch has.
func recount(from source) (int64, error) {
	c := from.cursor()
	defer from.extent.close()
	var rec stored
	for c.next(&rec) {
	}
	return c.found + c.cut, c.failed
}

// restore takes what a state names.
func (r *recovery) restore(m *manifest) error {
	for i := range m.segments {
		if err := r.restoreSegment(&m.segments[i]); err != nil {
			return err
		}
	}
	for i := range m.runs {
		if err := r.restoreRun(&m.runs[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r *recovery) restoreSegment(n *namedSegment) error {
	s := newSegment(r.far, n.bucket, n.id)
	s.length, s.count, s.maxLog, s.minSlot, s.first, s.durable = n.length, n.count, n.maxLog, n.minSlot, n.first, n.length
	extra := r.files[path.Base(s.x.name)]
	if !r.keep(&s.x, upTo(s.x.chunks(s.length))) {
		sound, err := recount(s.source())
		if err != nil {
			return err
		}
		r.far.report(nil, s.count-sound, damage{file: s.x.name, at: -1})
		s.count = sound
	}
	if s.maxLog >= r.logEnd {
		if err := r.cut(s); err != nil {
			return err
		}
	}
	return r.take(s, extra)
}

// upTo yields the numbers below n.
func upTo(n int64) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// take makes a segment one that grows from its length on: what lies behind is deleted or cleared.
func (r *recovery) take(s *segment, f *files) error {
	defer s.x.close()
	whole := s.x.chunks(s.length)
	if f != nil {
		for n := range f.chunks {
			if n < whole {
				continue
			}
			if err := r.far.opts.FS.Remove(chunkFile(s.x.name, n)); err != nil {
				return err
			}
		}
	}
	s.closed = len(s.x.missing) > 0
	if s.count == 0 {
		return nil
	}
	r.far.segments[s.bucket] = append(r.far.segments[s.bucket], s)
	s.x.reserved = s.length &^ (pageSize - 1)
	if !s.closed && s.length%s.x.chunk > 0 {
		r.tails = append(r.tails, s)
	}
	return nil
}

// cut ends a segment before the first record that the log does not have any more. Arrivals are in
// the order of the log.
func (r *recovery) cut(s *segment) error {
	from := s.source()
	c := from.cursor()
	defer from.extent.close()
	s.count, s.maxLog, s.minSlot, s.first = 0, -1, math.MaxInt64, never
	var rec stored
	for end := int64(0); ; end = c.pos {
		more := c.next(&rec)
		if c.failed != nil {
			return c.failed
		}
		if !more || rec.LogOffset >= r.logEnd {
			s.length, s.durable = end, min(s.durable, end)
			return nil
		}
		s.added(&rec.Entry, rec.slot)
	}
}

func (r *recovery) restoreRun(n *namedRun) error {
	got, err := r.openRun(n.bucket, n.id, n.length)
	if err != nil {
		return err
	}
	got.gone, got.taken, got.named = n.gone, n.taken, n.taken
	if left, _ := got.left(); left < n.count {
		r.far.report(nil, n.count-left, damage{file: got.x.name, at: -1})
	}
	return r.takeRun(got)
}

// openRun reads the index of a run, and makes one of its records when it is damaged. length is
// that of the run, or of its files.
func (r *recovery) openRun(b bucket, id uint64, length int64) (*run, error) {
	x := r.far.extent(extentName(b, runKind, id))
	got := &run{}
	raw, err := r.far.opts.FS.ReadFile(indexFile(x.name))
	if err == nil {
		err = got.decodeIndex(raw)
	}
	if err == nil && (got.bucket != b || got.id != id) {
		err = fmt.Errorf("%w: an index of %s-%d", ErrDamaged, got.bucket, got.id)
	}
	if err != nil && !errors.Is(err, ErrDamaged) && !errors.Is(err, region.ErrNotExist) {
		return nil, err
	}
	got.x = x
	made := err != nil
	if made {
		r.far.opts.Log.WithError(err).WithField("file", indexFile(x.name)).Error("damaged: the index is made again")
		if got, err = rebuild(b, id, x, length); err != nil {
			return nil, err
		}
	}
	got.trimmed = got.taken
	return got, r.cutRun(got, made)
}

// cutRun leaves out what the log does not have any more.
func (r *recovery) cutRun(got *run, made bool) error {
	if got.claims.highest() >= r.logEnd {
		got.claims, got.below, made = got.claims.below(r.logEnd), min(got.below, r.logEnd), true
	}
	if !made {
		return nil
	}
	return r.far.opts.FS.WriteFile(indexFile(got.x.name), got.appendIndex(nil))
}

// takeRun makes a run part of what there is.
func (r *recovery) takeRun(got *run) error {
	needed := make(map[int64]bool)
	for _, s := range got.parts {
		if !got.isGone(s.part) {
			got.eachChunk(s, func(number int64) { needed[number] = true })
		}
	}
	r.far.runs(got.bucket.day)[got.bucket.n] = got
	if r.keep(&got.x, maps.Keys(needed)) {
		return nil
	}
	lost := int64(0)
	for i := range got.parts {
		s := &got.parts[i]
		if got.isGone(s.part) {
			continue
		}
		sound, err := recount(got.source(*s))
		if err != nil {
			return err
		}
		lost, s.count = lost+s.count-sound, sound
	}
	r.far.report(nil, lost, damage{file: got.x.name, at: -1})
	return nil
}

// rebuild makes the index of a run by reading it.
func rebuild(b bucket, id uint64, x extent, length int64) (*run, error) {
	got := &run{bucket: b, id: id, below: math.MaxInt64, x: x}
	all := claim{maxLog: -1}
	from := source{extent: x.apart(), id: id, to: length, below: math.MaxInt64}
	c := from.cursor()
	c.holes = true
	defer from.extent.close()
	var rec stored
	last := int64(math.MinInt64)
	for end := int64(0); c.next(&rec); end = c.pos {
		part := b.part(rec.slot)
		n := len(got.parts)
		if !b.has(rec.slot) || n > 0 && part < got.parts[n-1].part {
			continue
		}
		if n == 0 || part > got.parts[n-1].part {
			got.parts = append(got.parts, stretch{part: part, pos: end, minSlot: rec.slot, first: never, ordered: true})
			last = math.MinInt64
			n++
		}
		p := &got.parts[n-1]
		p.count++
		p.bytes = c.pos - p.pos
		p.minSlot = min(p.minSlot, rec.slot)
		p.first.add(&rec.Entry, rec.slot)
		p.ordered = p.ordered && rec.Due >= last
		last = rec.Due
		got.length, all.maxLog = c.pos, max(all.maxLog, rec.LogOffset)
	}
	got.claims = got.claims.with(all)
	got.close()
	return got, c.failed
}

// close leaves no gaps between the parts, as the form of the index has none.
func (r *run) close() {
	for i := range r.parts {
		if i == 0 {
			r.parts[0].bytes += r.parts[0].pos
			r.parts[0].pos = 0
		}
		if i+1 < len(r.parts) {
			r.parts[i].bytes = r.parts[i+1].pos - r.parts[i].pos
		}
	}
}

// removeRest deletes what the state does not name, durably: it must not come back beside what is
// written from now on. Without a state, files go when there is one again.
func (r *recovery) removeRest(saved bool) error {
	for _, name := range r.tmp {
		if err := r.far.opts.FS.Remove(path.Join(r.far.dir, name)); err != nil {
			return err
		}
	}
	var rest []removal
	for _, f := range r.files {
		last := int64(0)
		for n := range f.chunks {
			last = max(last, n)
		}
		rest = append(rest, removal{f.found, path.Join(r.far.dir, f.name), last + 1})
	}
	if !saved {
		r.far.dropped = append(r.far.dropped, rest...)
		return nil
	}
	return removeMade(r.far.opts.FS, r.far.dir, rest)
}
