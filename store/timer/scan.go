package timer

import (
	"cmp"
	"math"
	"slices"
)

// has implements farPart.
func (f *far) has(slot, logOffset int64) bool {
	for _, b := range [...]bucket{hourBucket(slot), dayBucket(slot)} {
		if f.taken[b].has(logOffset) {
			return true
		}
	}
	return false
}

// scan takes what is there without a state to go by. A run is complete when it has an index; it
// takes the place of everything older of its bucket.
func (r *recovery) scan() error {
	r.far.taken = make(map[bucket]claims)
	list := make([]*files, 0, len(r.files))
	for _, f := range r.files {
		list = append(list, f)
	}
	r.chunkSize()
	// The newest first.
	slices.SortFunc(list, func(a, b *files) int { return cmp.Compare(b.id, a.id) })
	newest := make(map[bucket]uint64)
	for _, f := range list {
		if f.kind != runKind || !f.index || newest[f.bucket] > f.id {
			continue
		}
		newest[f.bucket] = f.id
		if err := r.scanRun(f); err != nil {
			return err
		}
	}
	for _, day := range r.far.days {
		for _, s := range day.parts {
			if hour := hourBucket(s.minSlot); newest[hour] > day.id {
				r.far.takeHour(hour)
			}
		}
	}
	slices.Reverse(list)
	for _, f := range list {
		if f.kind == segmentKind && f.id > newest[f.bucket] {
			if err := r.scanSegment(f); err != nil {
				return err
			}
		}
	}
	return nil
}

// chunkSize is that of the files there are, whatever the options say.
func (r *recovery) chunkSize() {
	size := int64(0)
	for _, f := range r.files {
		for _, n := range f.chunks {
			size = max(size, n)
		}
	}
	if size > 0 {
		r.far.chunk = size
	}
}

func (r *recovery) scanRun(f *files) error {
	length := int64(0)
	for n := range f.chunks {
		length = max(length, (n+1)*r.far.chunk)
	}
	got, err := r.openRun(f.bucket, f.id, length)
	if err != nil {
		return err
	}
	r.far.taken[got.bucket] = r.far.taken[got.bucket].with(got.claims...)
	if got.bucket.day {
		r.far.hoursEnd = max(r.far.hoursEnd, got.bucket.end())
	}
	return r.takeRun(got)
}

// scanSegment reads a segment up to its last sound record.
func (r *recovery) scanSegment(f *files) error {
	s := newSegment(r.far, f.bucket, f.id)
	end := int64(0)
	for n := range f.chunks {
		end = max(end, n+1)
	}
	_ = r.keep(&s.x, upTo(end)) // the last ones may never have been whole
	has, err := r.read(s, end*s.x.chunk)
	if err != nil {
		return err
	}
	r.far.taken[s.bucket] = r.far.taken[s.bucket].with(has)
	if !s.bucket.day {
		r.far.hoursEnd = max(r.far.hoursEnd, dayBucket(s.bucket.begin()).end())
	}
	err = r.take(s, f)
	// What is in a gap comes again: a segment of its own keeps to the order of the log.
	s.closed = s.closed || len(has.gaps) > 0
	return err
}

// read counts what a segment holds, up to the end of the log. Damage with sound records behind is
// reported; what is last was being written.
func (r *recovery) read(s *segment, end int64) (has claim, err error) {
	from := source{extent: s.x.apart(), id: s.id, to: end, below: math.MaxInt64}
	defer from.extent.close()
	c := from.cursor()
	c.holes = true
	has.maxLog = -1
	var places []damage
	var rec stored
	c.damage = func(pos, n int64) {
		places = append(places, damage{from.extent.file(pos), pos % from.extent.chunk, n})
		has.damaged()
	}
	sound := 0
	for c.next(&rec) && rec.LogOffset < r.logEnd {
		if !s.bucket.has(rec.slot) {
			continue
		}
		has.sound(rec.LogOffset)
		s.length, sound = c.pos, len(places)
		s.added(&rec.Entry, rec.slot)
		if !s.bucket.day {
			r.far.counted(s.bucket.n)[rec.slot%secondsPerHour]++
		}
	}
	if sound > 0 {
		r.far.report(places[:sound], int64(sound), damage{file: s.x.name, at: -1})
	}
	return has, c.failed
}
