package timer

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
)

// run holds the records of a closed bucket sorted: those of an hour by second, those of a day by
// hour, within a part in the order of arrival or, when told so, of due. It is never written to
// again; parts go.
type run struct {
	bucket bucket
	id     uint64
	length int64 // bytes
	claims claims
	below  int64 // end of the log offsets that count
	parts  []stretch
	gone   int64  // parts of an hour below this number are done
	taken  uint32 // hours of a day that are sorted, a bit for each
	// named of them are so in a saved state, and trimmed are so in the files.
	named, trimmed uint32
	x              extent // name and chunk size, for readers; maps nothing
}

// stretch is one part of a run that has records.
type stretch struct {
	part    int64
	pos     int64 // in the run, bytes
	bytes   int64
	count   int64
	minSlot int64 // earliest slot
	first   earliest
	ordered bool // by due, equal ones by arrival; else by arrival
}

// find is the index of the first stretch whose part is not below a number.
func (r *run) find(part int64) int {
	i, _ := slices.BinarySearchFunc(r.parts, part, func(s stretch, part int64) int { return cmp.Compare(s.part, part) })
	return i
}

// stretch is the one of a part; false when it has no records, or they are done.
func (r *run) stretch(part int64) (stretch, bool) {
	i := r.find(part)
	if i == len(r.parts) || r.parts[i].part != part || r.isGone(part) {
		return stretch{}, false
	}
	return r.parts[i], true
}

func (r *run) isGone(part int64) bool {
	return part < r.gone || r.isTaken(part)
}

func (r *run) isTaken(part int64) bool { return r.bucket.day && r.taken>>part&1 == 1 }

// next is the first slot with records that is not before a second.
func (r *run) next(from int64) (second int64, ok bool) {
	part := r.gone
	if from > r.bucket.begin() {
		part = max(part, r.bucket.part(from))
	}
	for i := r.find(part); i < len(r.parts); i++ {
		if !r.isGone(r.parts[i].part) {
			return max(from, r.parts[i].minSlot), true
		}
	}
	return 0, false
}

// left is how many records, and bytes, are not done.
func (r *run) left() (count, bytes int64) {
	for _, s := range r.parts[r.find(r.gone):] {
		if !r.isGone(s.part) {
			count, bytes = count+s.count, bytes+s.bytes
		}
	}
	return count, bytes
}

// source is a stretch as input of a job or a reader.
func (r *run) source(s stretch) source {
	return source{extent: r.x.apart(), id: r.id, from: s.pos, to: s.pos + s.bytes, count: s.count, below: r.below, sorted: true, claims: r.claims}
}

// rest is all that is not done, for a job that sorts it anew.
func (r *run) rest() source {
	all := stretch{pos: r.length}
	for _, s := range r.parts[r.find(r.gone):] {
		all.pos = min(all.pos, s.pos)
		all.count += s.count
	}
	all.bytes = r.length - all.pos
	return r.source(all)
}

// The index of a run is a small file beside it, which is written when all of the run is durable:
// a run without one is not there. Numbers are varints, parts follow one another without gaps:
//
//	"WMQR", version, day or not, number of the bucket, id, end of the log offsets that count (0:
//	all), claims, parts
//	part: number from that of the one before, bytes / 8, records, seconds from the part's begin
//	to its first slot, ordered or not, its first message or none: ms and seconds from the part's
//	begin to due and slot
//	CRC-32C u4
const (
	indexMagic   = "WMQR"
	indexVersion = 1
)

// appendIndex appends the index. Hours of a day that were taken out of it have no records.
func (r *run) appendIndex(b []byte) []byte {
	begin := len(b)
	b = append(append(b, indexMagic...), indexVersion)
	below := r.below
	if below == math.MaxInt64 {
		below = 0
	}
	for _, v := range []int64{flag(r.bucket.day), r.bucket.n, int64(r.id), below} {
		b = binary.AppendVarint(b, v)
	}
	b = binary.AppendVarint(r.claims.append(b), int64(len(r.parts)))
	last := int64(-1)
	for _, s := range r.parts {
		count := s.count
		if r.isTaken(s.part) {
			count = 0
		}
		for _, v := range []int64{s.part - last, s.bytes / storedAlign, count, s.minSlot - r.partBegin(s.part), flag(s.ordered)} {
			b = binary.AppendVarint(b, v)
		}
		b = s.first.append(b, r.partBegin(s.part))
		last = s.part
	}
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b[begin:], castagnoli))
}

func (r *run) partBegin(part int64) int64 { return r.bucket.begin() + part*r.bucket.partSeconds() }

func flag(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// decodeIndex reads what appendIndex wrote. The error wraps ErrDamaged when b is anything else.
func (r *run) decodeIndex(b []byte) error {
	if len(b) < len(indexMagic)+5 || string(b[:len(indexMagic)]) != indexMagic {
		return fmt.Errorf("%w: no index of a run", ErrDamaged)
	}
	body, sum := b[:len(b)-4], binary.BigEndian.Uint32(b[len(b)-4:])
	if crc32.Checksum(body, castagnoli) != sum {
		return fmt.Errorf("%w: the checksum of the index of a run does not match", ErrDamaged)
	}
	if v := body[len(indexMagic)]; v != indexVersion {
		return fmt.Errorf("%w: an index of version %d, this is version %d", ErrDamaged, v, indexVersion)
	}
	read := run{}
	d := numbers{b: body[len(indexMagic)+1:]}
	read.decode(&d)
	if d.bad || len(d.b) != 0 {
		return fmt.Errorf("%w: the numbers of the index of a run make no sense", ErrDamaged)
	}
	*r = read
	return nil
}

func (r *run) decode(d *numbers) {
	r.bucket = decodeBucket(d)
	r.id = uint64(d.next(0, math.MaxInt64))
	if r.below = d.next(0, math.MaxInt64); r.below == 0 {
		r.below = math.MaxInt64
	}
	r.claims = decodeClaims(d)
	last := int64(-1)
	for n := d.length(6); n > 0 && !d.bad; n-- {
		s := stretch{pos: r.length}
		s.part = last + d.next(1, r.bucket.parts()-1-last)
		s.bytes = d.next(0, (math.MaxInt64-r.length)/storedAlign) * storedAlign
		s.count = d.next(1-flag(r.bucket.day), s.bytes/storedHeader)
		s.minSlot = r.partBegin(s.part) + d.next(0, r.bucket.partSeconds()-1)
		s.ordered = d.next(0, 1) == 1
		s.first = decodeEarliest(d, r.partBegin(s.part), r.bucket.partSeconds())
		last = s.part
		r.length += s.bytes
		if s.count == 0 {
			r.take(s.part)
		}
		r.parts = append(r.parts, s)
	}
}

// take gives up a part.
func (r *run) take(part int64) {
	if r.bucket.day {
		r.taken |= 1 << part
	}
}

func decodeBucket(d *numbers) (b bucket) {
	b.day = d.next(0, 1) == 1
	b.n = d.next(0, maxSecond/b.seconds())
	return b
}
