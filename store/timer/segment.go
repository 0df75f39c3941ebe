package timer

import (
	"encoding/binary"
	"math"
)

// segment keeps the records of a bucket in the order of their arrival. It grows until its bucket
// is closed.
type segment struct {
	bucket bucket
	id     uint64
	x      extent

	length  int64 // bytes
	count   int64 // records
	maxLog  int64 // highest log offset of a record, -1: none
	minSlot int64 // earliest slot
	first   earliest

	durable int64 // bytes that a saved state names
	dirty   int64 // bytes below may differ from the disk though no record is there: what was cleared
	closed  bool
	used    uint64 // when it was last added to, to unmap the others first
}

func newSegment(f *far, b bucket, id uint64) *segment {
	s := &segment{bucket: b, id: id, maxLog: -1, minSlot: math.MaxInt64, first: never}
	s.x = f.extent(extentName(b, segmentKind, id))
	return s
}

// append adds a record at the end. After an error nothing has changed.
func (s *segment) append(e *Entry, slot int64, record []byte) error {
	n := storedSize(len(record))
	if s.length+n > s.x.made {
		if err := s.x.grow(s.length, s.length+n); err != nil {
			return err
		}
	}
	b, err := s.x.direct(s.length, n)
	if err != nil {
		return err
	}
	if b == nil {
		b = make([]byte, n)
		putStored(b, e, slot, record, s.id, s.length)
		if err := s.x.write(s.length, b); err != nil {
			return err
		}
		s.x.leave(s.length + n)
	} else {
		putStored(b, e, slot, record, s.id, s.length)
	}
	s.length += n
	s.added(e, slot)
	return nil
}

// added counts a record in.
func (s *segment) added(e *Entry, slot int64) {
	s.count++
	s.maxLog = max(s.maxLog, e.LogOffset)
	s.minSlot = min(s.minSlot, slot)
	s.first.add(e, slot)
}

// earliest is the message (no cancel) that is due first: its Due, and its slot.
type earliest struct{ due, slot int64 }

// never is that of no message.
var never = earliest{math.MaxInt64, math.MaxInt64}

func (m *earliest) add(e *Entry, slot int64) {
	if e.Flags == 0 {
		m.take(earliest{e.Due, slot})
	}
}

func (m *earliest) take(o earliest) {
	if o.due < m.due {
		*m = o
	}
}

// append appends it as varints from the begin of a part, second.
func (m *earliest) append(b []byte, begin int64) []byte {
	if *m == never {
		return binary.AppendVarint(b, 0)
	}
	b = binary.AppendVarint(b, 1)
	b = binary.AppendVarint(b, m.due-begin*1000)
	return binary.AppendVarint(b, m.slot-begin)
}

func decodeEarliest(d *numbers, begin, seconds int64) earliest {
	if d.next(0, 1) == 0 {
		return never
	}
	due := begin*1000 + d.next(math.MinInt64/2, (maxSecond-begin)*1000)
	return earliest{due, begin + d.next(0, seconds-1)}
}

// source is the segment as input of a job, or of a scan. It shares nothing with the segment.
func (s *segment) source() source {
	return source{extent: s.x.apart(), id: s.id, to: s.length, count: s.count, below: math.MaxInt64, maxLog: s.maxLog, inLogOrder: true}
}

// source is a stretch of records to be read.
type source struct {
	extent   extent
	id       uint64
	from, to int64
	count    int64 // records in it
	below    int64 // end of the log offsets that count
	sorted   bool  // a run's: it has claims, where one of a segment is made while it is read, up to maxLog
	claims   claims
	maxLog   int64
	// inLogOrder: its records come as they lie in the log, except what was taken in again after damage.
	inLogOrder bool
}

func (s *source) cursor() *cursor {
	return &cursor{x: &s.extent, id: s.id, pos: s.from, end: s.to, below: s.below, passing: true}
}
