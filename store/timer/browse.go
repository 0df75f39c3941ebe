package timer

import (
	"errors"
	"fmt"
)

// Browser gives what is kept in a stretch of seconds, sorted or not, as it was when the Browser was
// made: far entries part after part, then near ones. One goroutine reads it, which need not be the
// Timeline's owner; only Browse and Close are the owner's. No file that it reads goes meanwhile.
type Browser struct {
	From, To int64 // seconds [From, To) are all that is looked at

	t       *Timeline
	parts   []source
	cursor  *cursor // of the part that is being read; nil: none is
	near    []nearEntries
	damages []error
	lost    int64
	missing []Missing
	around  claim // what was read of the part, and where damage is between
	between []Between
}

// nearEntries are those of a second.
type nearEntries struct {
	second  int64
	entries []byte
}

// Missing is where in the CommitLog the records of all near entries of a second lie that damage has
// taken.
type Missing struct {
	Second   int64
	From, To int64 // bytes
}

// Browse looks at the first stretch of seconds in [from, before) that may have entries: a second,
// or, where they are not sorted, what is left of its hour or day. nil: there is none. Of a file
// that cannot be read, Err tells.
func (t *Timeline) Browse(from, before int64) *Browser {
	from = max(from, 0)
	first, ok := t.near.next(from)
	if t.far != nil {
		if far, has := t.far.following(from); has && (!ok || far < first) {
			first, ok = far, true
		}
	}
	if !ok || first >= before {
		return nil
	}
	b := &Browser{From: first, To: first + 1, t: t}
	if t.far != nil {
		b.To = min(before, t.far.stretch(first))
		b.parts = t.far.browse(b.From, b.To)
	}
	for second, has := t.near.next(b.From); has && second < b.To; second, has = t.near.next(second + 1) {
		b.takeNear(second)
	}
	return b
}

// takeNear copies the near entries of a second: their files may be let go of.
func (b *Browser) takeNear(second int64) {
	r := b.t.near.read(second)
	defer r.close()
	n := nearEntries{second: second, entries: make([]byte, 0, int64(entrySize)*b.t.near.count(second))}
	for r.nextBlock() {
		n.entries, r.entries = append(n.entries, r.entries...), nil
	}
	b.near = append(b.near, n)
	if r.err != nil {
		b.damages = append(b.damages, r.err)
	}
	if m := r.missing; m.from < m.to {
		b.missing = append(b.missing, Missing{second, m.from, m.to})
	}
}

// Next is another entry and its second, false at the end. A far record is valid until the next call.
func (b *Browser) Next() (second int64, item Item, ok bool) {
	for len(b.parts) > 0 {
		if second, item, ok = b.nextFar(); ok {
			return second, item, true
		}
		b.endPart()
	}
	for len(b.near) > 0 {
		n := &b.near[0]
		if len(n.entries) > 0 {
			e := entryOf(n.entries, n.second)
			n.entries = n.entries[entrySize:]
			return n.second, Item{Entry: e}, true
		}
		b.near = b.near[1:]
	}
	return 0, Item{}, false
}

// nextFar is the next entry of the part that is being read.
func (b *Browser) nextFar() (second int64, item Item, ok bool) {
	if b.cursor == nil {
		b.cursor, b.around = b.parts[0].cursor(), claim{maxLog: -1}
		b.cursor.damage = func(_, _ int64) { b.around.damaged() }
	}
	var rec stored
	for b.cursor.next(&rec) {
		b.around.sound(rec.LogOffset)
		if rec.slot >= b.From && rec.slot < b.To {
			return rec.slot, Item{Entry: rec.Entry, Record: rec.record()}, true
		}
	}
	return 0, Item{}, false
}

// endPart finds out what of a part is missing.
func (b *Browser) endPart() {
	part, c := &b.parts[0], b.cursor
	lost := part.count - c.found - c.cut
	for _, g := range part.gaps(b.around, lost) {
		b.between = append(b.between, Between{g.after, g.before})
	}
	if c.failed != nil {
		b.damages = append(b.damages, c.failed)
	} else if lost > 0 {
		b.lost += lost
		b.damages = append(b.damages, fmt.Errorf("%w: %d of %d records of %s are missing", ErrDamaged, lost, part.count, part.extent.name))
	}
	part.extent.close()
	b.cursor, b.parts = nil, b.parts[1:]
}

// Err tells, after Next has returned false, why entries are missing. It wraps ErrDamaged where files
// do not hold what was written.
func (b *Browser) Err() error { return errors.Join(b.damages...) }

// Lost is how many far entries of the files that were read are damaged, those of other seconds with
// them.
func (b *Browser) Lost() int64 { return b.lost }

// Between is where in the CommitLog the records lie of far entries that damage has taken from the files
// that were read, of other seconds too.
func (b *Browser) Between() []Between { return b.between }

// Missing is where near entries are to be looked for that damage has taken.
func (b *Browser) Missing() []Missing { return b.missing }

// Close ends the Browser.
func (b *Browser) Close() {
	for i := range b.parts {
		b.parts[i].extent.close()
	}
	if b.t != nil && b.t.far != nil {
		b.t.far.browsed()
	}
	b.t, b.parts, b.cursor, b.near = nil, nil, nil, nil
}

// following implements farPart.
func (f *far) following(from int64) (second int64, ok bool) {
	consider := func(s int64) {
		if !ok || s < second {
			second, ok = s, true
		}
	}
	for b, list := range f.segments {
		for _, s := range list {
			if s.count > 0 && b.end() > from {
				consider(max(from, s.minSlot))
			}
		}
	}
	for _, runs := range []map[int64]*run{f.hours, f.days} {
		for _, r := range runs {
			if s, has := r.next(from); has && r.bucket.end() > from {
				consider(s)
			}
		}
	}
	return second, ok
}

// stretch implements farPart.
func (f *far) stretch(second int64) (end int64) {
	hour, day := hourBucket(second), dayBucket(second)
	if len(f.segments[day]) > 0 {
		return day.end()
	}
	if _, _, ok := f.ofDay(hour); ok || len(f.segments[hour]) > 0 {
		return hour.end()
	}
	return second + 1
}

// browse implements farPart.
func (f *far) browse(from, to int64) (parts []source) {
	f.browsers++
	for day := dayBucket(from); day.begin() < to; day.n++ {
		parts = f.browseSegments(parts, day)
		if r := f.days[day.n]; r != nil {
			parts = r.browse(parts, from, to)
		}
	}
	for hour := hourBucket(from); hour.begin() < to; hour.n++ {
		parts = f.browseSegments(parts, hour)
		if r := f.hours[hour.n]; r != nil {
			parts = r.browse(parts, from, to)
		}
	}
	return parts
}

func (f *far) browseSegments(parts []source, b bucket) []source {
	for _, s := range f.segments[b] {
		parts = append(parts, s.source())
	}
	return parts
}

// browse appends the parts that lie in [from, to), those of an hour that follow one another as one.
func (r *run) browse(parts []source, from, to int64) []source {
	var whole stretch
	for _, s := range r.parts[r.find(r.gone):] {
		begin := r.partBegin(s.part)
		if r.isGone(s.part) || begin >= to || begin+r.bucket.partSeconds() <= from {
			continue
		}
		if whole.count == 0 {
			whole.pos = s.pos
		} else if s.pos != whole.pos+whole.bytes {
			parts = append(parts, r.source(whole))
			whole = stretch{pos: s.pos}
		}
		whole.bytes, whole.count = whole.bytes+s.bytes, whole.count+s.count
	}
	if whole.count > 0 {
		parts = append(parts, r.source(whole))
	}
	return parts
}

// browsed implements farPart.
func (f *far) browsed() { f.browsers-- }
