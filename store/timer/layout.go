package timer

import "math"

// manyRecords is from how many records on a run is sorted by due within its seconds. The table
// for that takes 14.4 MB while the hour is sorted; few records are as well sorted when they are
// read.
const manyRecords = 1 << 16

// layout is the plan of a run: where each record goes, by counting.
type layout struct {
	bucket bucket
	parts  []stretch // of all parts, also empty ones
	last   []int64   // due of the last record counted, by part
	odd    []bool    // parts with records that are due outside of their slot
	next   []int64   // position of the next record, by part
	// fine has for each ms of an hour first the size of its records and then where its next one
	// goes from its part's begin, in units of 8 bytes; nil: records stay in the order of arrival.
	fine  []uint32
	total int64 // bytes
}

func newLayout(b bucket, records int64) *layout {
	n := b.parts()
	l := &layout{
		bucket: b, parts: make([]stretch, n), last: make([]int64, n), odd: make([]bool, n), next: make([]int64, n),
	}
	for i := range l.parts {
		l.parts[i] = stretch{part: int64(i), minSlot: math.MaxInt64, first: never, ordered: true}
		l.last[i] = math.MinInt64
	}
	if !b.day && records >= manyRecords {
		l.fine = make([]uint32, b.seconds()*1000)
	}
	return l
}

// count takes a record into the plan.
func (l *layout) count(s *stored) {
	i := l.bucket.part(s.slot)
	p := &l.parts[i]
	p.count++
	p.bytes += int64(len(s.b))
	p.minSlot = min(p.minSlot, s.slot)
	p.first.add(&s.Entry, s.slot)
	if s.Due < l.last[i] {
		p.ordered = false
	}
	l.last[i] = s.Due
	if s.slot != secondOf(s.Due) {
		l.odd[i] = true
	}
	if l.fine != nil {
		l.fine[l.ms(s)] += uint32(len(s.b) / storedAlign)
	}
}

// ms is the ms of the hour that a record is sorted by: its due, or the nearest of its slot.
func (l *layout) ms(s *stored) int64 {
	return (s.slot-l.bucket.begin())*1000 + min(max(s.Due-s.slot*1000, 0), 999)
}

// place ends the counting.
func (l *layout) place() {
	for i := range l.parts {
		l.parts[i].pos, l.next[i] = l.total, l.total
		l.total += l.parts[i].bytes
		if l.parts[i].bytes/storedAlign > math.MaxUint32 {
			l.fine = nil
		}
	}
	if l.fine == nil {
		return
	}
	for i := range l.parts {
		l.parts[i].ordered = !l.odd[i]
		sum := uint32(0)
		for ms := i * 1000; ms < (i+1)*1000; ms++ {
			sum, l.fine[ms] = sum+l.fine[ms], sum
		}
	}
}

// take is where a record goes; false when the plan has no place for it.
func (l *layout) take(s *stored) (pos int64, ok bool) {
	i, n := l.bucket.part(s.slot), int64(len(s.b))
	p := &l.parts[i]
	if l.fine == nil {
		pos = l.next[i]
		l.next[i] += n
		return pos, pos+n <= p.pos+p.bytes
	}
	next := &l.fine[l.ms(s)]
	pos = p.pos + int64(*next)*storedAlign
	*next += uint32(n / storedAlign)
	return pos, pos+n <= p.pos+p.bytes
}

// stretches are the parts that have records.
func (l *layout) stretches() (list []stretch) {
	for _, p := range l.parts {
		if p.count > 0 {
			list = append(list, p)
		}
	}
	return list
}
