package timer

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
)

const (
	// maxMappedSegments bounds how many segments are mapped to be written to.
	maxMappedSegments = 2048
	// hoursAhead is how far from nearEnd on records are kept by hours and not by days, seconds.
	hoursAhead = 46 * secondsPerHour
	// maxSortedHours bounds how many hours are sorted ahead of what is done: after a long time
	// down there is no use in sorting all that is overdue at once.
	maxSortedHours = 4
)

// far keeps whole records by the time they are due: in one segment for each hour of the next two
// days and one for each day behind. A job splits a day into its hours when it comes within 48
// hours; another sorts an hour into its seconds before it comes. Both make a run, of day and of
// hour; the segments, and what a run of a day has of the hour, go when a checkpoint names that.
// So a record is rewritten twice at most, and files are read and written in order.
//
// An hour is ready to be read when nothing of it is left but a run.
type far struct {
	opts     Options
	dir      string
	chunk    int64 // size of a file, bytes
	nearEnd  int64 // first second that takes arrivals
	hoursEnd int64 // first second, of a day, that is kept by days
	nextID   uint64

	segments map[bucket][]*segment // in the order of their ids; adds go to the last
	hours    map[int64]*run        // by number of the hour
	days     map[int64]*run        // by number of the day
	counts   map[int64]*[secondsPerHour]uint32
	unsorted int64             // no slot of a segment or of a day's run is below
	first    earliest          // of what no hour's run has
	taken    map[bucket]claims // what a scan at open has found; nil after an open by a state

	recent [recentBuckets]recent // by bucket.recent

	mapped   []*segment // those that may be mapped
	tick     uint64
	look     bool // something may have to be sorted
	sorting  *sortJob
	cleaning *cleanJob
	browsers int       // are reading: no file goes
	dropped  []removal // not needed any more; a saved state may name them
	removed  []removal // named by no state
	tidy     bool      // a state was saved since files were looked for that can go

	unsynced []unsynced // what the last state names
	newNames bool       // it names files whose names may not be durable

	damaged  int64 // records, since the open
	reported map[damage]bool
}

// recentBuckets are more than the hours that arrivals are kept by, and a power of two.
const recentBuckets = 128

// recent is where the last arrivals of a bucket went: looking that up costs as much as copying one.
type recent struct {
	bucket  bucket
	segment *segment                // nil: none is known
	counts  *[secondsPerHour]uint32 // of an hour
}

// recentOf is the place of a bucket among the recent ones.
func recentOf(b bucket) int64 {
	if b.day {
		return (b.n + recentBuckets/2) % recentBuckets
	}
	return b.n % recentBuckets
}

// forgetRecent has arrivals look for their segments again.
func (f *far) forgetRecent() { f.recent = [recentBuckets]recent{} }

func newFar(opts Options) *far {
	return &far{
		opts: opts, dir: path.Join(opts.Dir, "far"), chunk: int64(opts.ChunkSize), nextID: 1, unsorted: math.MaxInt64, first: never,
		segments: make(map[bucket][]*segment), hours: make(map[int64]*run), days: make(map[int64]*run),
		counts: make(map[int64]*[secondsPerHour]uint32), reported: make(map[damage]bool), look: true,
	}
}

// extent is one of a name in the directory, with files of the Timeline's size.
func (f *far) extent(name string) extent {
	return extent{fs: f.opts.FS, name: path.Join(f.dir, name), chunk: f.chunk}
}

func (f *far) newID() uint64 {
	f.nextID++
	return f.nextID - 1
}

// bucketOf is where arrivals of a slot go.
func (f *far) bucketOf(slot int64) bucket {
	if slot < f.hoursEnd {
		return hourBucket(slot)
	}
	return dayBucket(slot)
}

// add implements farPart.
func (f *far) add(e Entry, slot int64, record []byte) error {
	if slot < f.nearEnd || int(e.Size) != len(record) || !slotFits(&e, slot) {
		return fmt.Errorf("%w: %+v with %d bytes in second %d", ErrInvalid, e, len(record), slot)
	}
	b := f.bucketOf(slot)
	r := f.arrivalsOf(b)
	if err := r.segment.append(&e, slot, record); err != nil {
		return fmt.Errorf("timer: %s: %w", b, err)
	}
	f.unsorted = min(f.unsorted, slot)
	f.first.add(&e, slot)
	if !b.day {
		r.counts[slot%secondsPerHour]++
	}
	return nil
}

// arrivalsOf is where arrivals of a bucket go.
func (f *far) arrivalsOf(b bucket) *recent {
	r := &f.recent[recentOf(b)]
	if r.segment == nil || r.bucket != b {
		*r = recent{bucket: b, segment: f.writable(b)}
		if !b.day {
			r.counts = f.counted(b.n)
		}
	}
	f.tick++
	r.segment.used = f.tick
	if len(r.segment.x.maps) == 0 {
		f.willMap(r.segment)
	}
	return r
}

// counted are the counts of an hour's seconds.
func (f *far) counted(hour int64) *[secondsPerHour]uint32 {
	c := f.counts[hour]
	if c == nil {
		c = new([secondsPerHour]uint32)
		f.counts[hour] = c
	}
	return c
}

// writable is the segment that takes arrivals of a bucket.
func (f *far) writable(b bucket) *segment {
	list := f.segments[b]
	var s *segment
	if len(list) > 0 {
		s = list[len(list)-1]
	}
	if s == nil || s.closed {
		s = newSegment(f, b, f.newID())
		f.segments[b] = append(list, s)
	}
	return s
}

// leave implements farPart.
func (f *far) leave(slot int64) {
	if list := f.segments[f.bucketOf(slot)]; len(list) > 0 {
		last := list[len(list)-1]
		last.closed = true
		f.unmap(last)
		f.forgetRecent()
	}
}

// willMap makes room for a segment to be mapped: half of those that are go, the ones that were not
// used for longest.
func (f *far) willMap(s *segment) {
	if len(f.mapped) >= maxMappedSegments {
		slices.SortFunc(f.mapped, func(a, b *segment) int { return cmp.Compare(a.used, b.used) })
		for _, old := range f.mapped[:maxMappedSegments/2] {
			old.x.close()
		}
		f.mapped = slices.Delete(f.mapped, 0, maxMappedSegments/2)
	}
	f.mapped = append(f.mapped, s)
}

// unmap lets go of a segment that takes no arrivals any more.
func (f *far) unmap(s *segment) {
	s.x.close()
	f.mapped = slices.DeleteFunc(f.mapped, func(o *segment) bool { return o == s })
}

// next implements farPart.
func (f *far) next(from int64) (second int64, ok bool) {
	for _, r := range f.hours {
		if s, has := r.next(from); has && (!ok || s < second) {
			second, ok = s, true
		}
	}
	if f.unsorted != math.MaxInt64 {
		if s := max(f.unsorted, from); !ok || s < second {
			return s, true
		}
	}
	return second, ok
}

// findUnsorted looks for the first slot, and the first message, that is not in the run of an hour.
func (f *far) findUnsorted() {
	f.unsorted, f.first = math.MaxInt64, never
	for _, list := range f.segments {
		for _, s := range list {
			f.unsorted = min(f.unsorted, s.minSlot)
			f.first.take(s.first)
		}
	}
	for _, r := range f.days {
		if s, ok := r.next(0); ok {
			f.unsorted = min(f.unsorted, s)
			f.first.take(r.first())
		}
	}
}

// count implements farPart: exact where an hour is sorted, else what arrived in the hour's segment
// since the open.
func (f *far) count(second int64) int64 {
	n := int64(0)
	b := hourBucket(second)
	if r := f.hours[b.n]; r != nil {
		s, _ := r.stretch(b.part(second))
		n = s.count
	}
	if c := f.counts[b.n]; c != nil {
		n += int64(c[second%secondsPerHour])
	}
	return n
}

// done implements farPart.
func (f *far) done(second int64) {
	for n, r := range f.hours {
		if r.bucket.begin() > second {
			continue
		}
		r.gone = max(r.gone, min(r.bucket.part(second), r.bucket.parts()-1)+1)
		if _, left := r.next(second + 1); !left {
			f.dropRun(r)
			delete(f.hours, n)
			f.look = true
		}
	}
	f.passOver(second)
}

// passOver lets go of buckets that are past and were never sorted: a full disk kept them from being.
// What is being sorted is let go of when it is.
func (f *far) passOver(second int64) {
	if f.unsorted > second || f.sorting != nil {
		return
	}
	changed := false
	f.forgetRecent()
	for b, list := range f.segments {
		if b.end() > second+1 {
			continue
		}
		for _, s := range list {
			f.unmap(s)
			f.dropSegment(s)
		}
		delete(f.segments, b)
		if !b.day {
			delete(f.counts, b.n)
		}
		changed = true
	}
	for _, r := range f.days {
		for hour := hourBucket(r.bucket.begin()); hour.end() <= min(second+1, r.bucket.end()); hour.n++ {
			if _, _, ok := f.ofDay(hour); ok {
				f.takeHour(hour)
				delete(f.counts, hour.n)
				changed = true
			}
		}
	}
	if changed {
		f.findUnsorted()
		f.look = true
	}
}

// dropRun gives up a run. Its files go when a state without it is saved.
func (f *far) dropRun(r *run) {
	f.dropped = append(f.dropped, removal{found{bucket: r.bucket, kind: runKind, id: r.id}, r.x.name, r.x.chunks(r.length)})
}

// dropSegment gives up a segment, like dropRun.
func (f *far) dropSegment(s *segment) {
	chunks := max(s.x.reserved, s.length)/s.x.chunk + 1
	f.dropped = append(f.dropped, removal{found{bucket: s.bucket, kind: segmentKind, id: s.id}, s.x.name, chunks})
}

// stats implements farPart.
func (f *far) stats(s *Stats) {
	for _, list := range f.segments {
		for _, seg := range list {
			s.Far += seg.count
			s.FarBytes += seg.length
			s.Files += int(seg.x.chunks(seg.length))
		}
	}
	for _, runs := range []map[int64]*run{f.hours, f.days} {
		for _, r := range runs {
			count, _ := r.left()
			s.Far += count
			s.FarBytes += r.length
			s.Files += int(r.x.chunks(r.length)) + 1
		}
	}
	s.Damaged += f.damaged
}

// close implements farPart.
func (f *far) close() error {
	for _, s := range f.mapped {
		s.x.close()
	}
	f.mapped = nil
	return nil
}
