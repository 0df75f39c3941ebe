package store

import (
	"encoding/binary"
	"math"

	"github.com/wheelmq/wheelmq/store/region"
)

const (
	indexHeaderSize = 40
	indexSlotSize   = 4
	indexUnitSize   = 20
)

// indexGeometry is how many slots and units an index file has. Unit 0 is never used.
type indexGeometry struct{ slots, units uint32 }

func (g indexGeometry) size() int64 {
	return indexHeaderSize + int64(g.slots)*indexSlotSize + int64(g.units)*indexUnitSize
}

func (g indexGeometry) valid() bool { return validIndexNums(int(g.slots), int(g.units)) }

// validIndexNums tells whether files can have so many slots and units: the real broker maps
// less than 2 GB.
func validIndexNums(slots, units int) bool {
	if slots < 1 || units < 2 || slots > math.MaxInt32 || units > math.MaxInt32 {
		return false
	}
	return indexGeometry{uint32(slots), uint32(units)}.size() <= math.MaxInt32
}

// indexHeader is the start of an index file.
type indexHeader struct {
	beginTimestamp, endTimestamp int64  // store timestamps of the first and last record, ms
	beginOffset, endOffset       int64  // their log offsets
	usedSlots                    uint32 // slots that lead to a unit
	next                         uint32 // the unit to be written next
}

// indexFile is one mapped file of the index: a hash table of log offsets, byte for byte the
// real broker's. Layout, big-endian:
//
//	header  beginTimestamp i8, endTimestamp i8, beginPhyOffset i8, endPhyOffset i8, used slots i4, next unit i4
//	slots   i4 each: the newest unit whose hash leads here, 0 for none
//	units   key hash i4, log offset i8, seconds since beginTimestamp i4, the slot's previous unit i4
//
// Units are written in the order of the log. What is read may be damaged: whatever it holds,
// reading ends and stays inside of the file.
type indexFile struct {
	name   string // of its creation time, below the directory index
	region region.Region
	b      []byte
	indexGeometry
	head     indexHeader
	reserved int  // bytes below have disk space, or hold units
	dirty    bool // something is not durable
	closed   bool
}

// indexHash is the real broker's hash of a key: never negative.
func indexHash(javaHash int32) uint32 {
	switch {
	case javaHash == math.MinInt32:
		return 0
	case javaHash < 0:
		return uint32(-javaHash)
	}
	return uint32(javaHash)
}

func (f *indexFile) full() bool { return f.head.next >= f.units }

func (f *indexFile) slot(hash uint32) []byte {
	return f.b[indexHeaderSize+int64(hash%f.slots)*indexSlotSize:][:indexSlotSize]
}

func (f *indexFile) unit(n uint32) indexUnit { return f.b[f.unitAt(n):][:indexUnitSize] }

func (f *indexFile) unitAt(n uint32) int64 {
	return indexHeaderSize + int64(f.slots)*indexSlotSize + int64(n)*indexUnitSize
}

// indexUnit is one entry of an index file.
type indexUnit []byte

func (u indexUnit) hash() uint32     { return binary.BigEndian.Uint32(u) }
func (u indexUnit) offset() int64    { return int64(binary.BigEndian.Uint64(u[4:])) }
func (u indexUnit) seconds() int32   { return int32(binary.BigEndian.Uint32(u[12:])) }
func (u indexUnit) previous() uint32 { return binary.BigEndian.Uint32(u[16:]) }

// seconds is the time of a unit stored at timestamp, ms.
func (h *indexHeader) seconds(timestamp int64) int32 {
	return int32(min(max((timestamp-h.beginTimestamp)/1000, 0), math.MaxInt32))
}

// put adds a key of a record. The file is not full and has space behind the unit.
func (f *indexFile) put(hash uint32, offset, timestamp int64) {
	n, h := f.head.next, &f.head
	if n == 1 {
		h.beginOffset, h.beginTimestamp = offset, timestamp
	}
	slot := f.slot(hash)
	previous := binary.BigEndian.Uint32(slot)
	if previous == 0 || previous >= n {
		previous = 0
		h.usedSlots++
	}
	u := f.unit(n)
	binary.BigEndian.PutUint32(u, hash)
	binary.BigEndian.PutUint64(u[4:], uint64(offset))
	binary.BigEndian.PutUint32(u[12:], uint32(h.seconds(timestamp)))
	binary.BigEndian.PutUint32(u[16:], previous)
	binary.BigEndian.PutUint32(slot, n)
	h.next, h.endOffset, h.endTimestamp = n+1, offset, timestamp
	f.dirty = true
}

func (f *indexFile) readHeader() {
	be := binary.BigEndian
	f.head = indexHeader{
		beginTimestamp: int64(be.Uint64(f.b)), endTimestamp: int64(be.Uint64(f.b[8:])),
		beginOffset: int64(be.Uint64(f.b[16:])), endOffset: int64(be.Uint64(f.b[24:])),
		usedSlots: be.Uint32(f.b[32:]), next: max(be.Uint32(f.b[36:]), 1),
	}
}

// writeHeader shows other readers what was put.
func (f *indexFile) writeHeader() {
	be, h := binary.BigEndian, &f.head
	be.PutUint64(f.b, uint64(h.beginTimestamp))
	be.PutUint64(f.b[8:], uint64(h.endTimestamp))
	be.PutUint64(f.b[16:], uint64(h.beginOffset))
	be.PutUint64(f.b[24:], uint64(h.endOffset))
	be.PutUint32(f.b[32:], h.usedSlots)
	be.PutUint32(f.b[36:], h.next)
}

// sound tells whether the header fits the file and its newest and oldest unit. A file of
// another geometry does not pass, unless it is empty.
func (f *indexFile) sound() bool {
	h := &f.head
	if h.next > f.units || h.usedSlots >= h.next || h.usedSlots > f.slots {
		return false
	}
	if h.next == 1 {
		return true
	}
	last := f.unit(h.next - 1)
	// The real broker counts a file's first unit from the file before.
	if h.beginTimestamp < 0 || h.endTimestamp < 0 || h.next > 2 && last.seconds() != h.seconds(h.endTimestamp) {
		return false
	}
	return h.beginOffset >= 0 && f.unit(1).offset() == h.beginOffset && last.offset() == h.endOffset &&
		h.beginOffset <= h.endOffset && binary.BigEndian.Uint32(f.slot(last.hash())) == h.next-1
}

// stamp is about when a unit's record was stored, ms, to be exact up to a second earlier.
func (f *indexFile) stamp(n uint32, u indexUnit) int64 {
	if n == 1 {
		return f.head.beginTimestamp
	}
	return f.head.beginTimestamp + int64(u.seconds())*1000
}

// maxSteps bounds the units that find looks at in one call.
const maxSteps = 1 << 16

// find appends to dst the log offsets of records stored within [begin, end] ms that have a
// key with this hash, newest first, until dst is full. It begins at the unit from, 0 for the
// newest, and returns the unit to go on with, 0 at the end.
func (f *indexFile) find(dst []int64, hash, from uint32, begin, end int64) (found []int64, rest uint32) {
	if f.closed {
		return dst, 0
	}
	n := from
	if n == 0 {
		n = binary.BigEndian.Uint32(f.slot(hash))
	}
	for steps := 0; n > 0 && n < f.head.next; steps++ {
		if len(dst) == cap(dst) || steps == maxSteps {
			return dst, n
		}
		u := f.unit(n)
		// Within one file time only grows with the numbers.
		at := f.stamp(n, u)
		if at < begin && begin-at >= 1000 {
			break
		}
		if u.hash() == hash && at <= end {
			dst = append(dst, u.offset())
		}
		previous := u.previous()
		if previous >= n {
			break
		}
		n = previous
	}
	return dst, 0
}

// overlaps tells whether records of the file may be stored within [begin, end] ms.
func (f *indexFile) overlaps(begin, end int64) bool {
	return f.head.next > 1 && f.head.beginTimestamp <= end && f.head.endTimestamp >= begin
}

// firstFrom is the first of the units below next whose record is at offset or behind it.
func (f *indexFile) firstFrom(offset int64, next uint32) uint32 {
	lo, hi := uint32(1), next
	for lo < hi {
		mid := lo + (hi-lo)/2
		if f.unit(mid).offset() < offset {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// cut makes next the unit to be written next and builds the slots anew from the units below
// it, which alone need to be intact. It tells whether they are: in the order of the log and
// below end. The caller has reserved space, and sets the header's instants.
func (f *indexFile) cut(next uint32, end int64) bool {
	slots := f.b[indexHeaderSize : indexHeaderSize+int64(f.slots)*indexSlotSize]
	clear(slots)
	f.head.usedSlots, f.head.next = 0, next
	f.dirty = true
	last := int64(0)
	for n := uint32(1); n < next; n++ {
		u := f.unit(n)
		hash, offset := u.hash(), u.offset()
		if hash > math.MaxInt32 || offset < last || offset >= end || u.seconds() < 0 {
			return false
		}
		last = offset
		slot := f.slot(hash)
		previous := binary.BigEndian.Uint32(slot)
		if previous == 0 {
			f.head.usedSlots++
		}
		if u.previous() != previous {
			binary.BigEndian.PutUint32(u[16:], previous)
		}
		binary.BigEndian.PutUint32(slot, n)
	}
	if next > 1 {
		f.head.beginOffset, f.head.endOffset = f.unit(1).offset(), last
	}
	return true
}

// indexReserveStep is how much disk space is taken at a time, bytes.
const indexReserveStep = 4 << 20

func (f *indexFile) lacksSpace(n uint32) bool { return int(f.unitAt(n+1)) > f.reserved }

// reserve puts disk space behind everything up to the unit n.
func (f *indexFile) reserve(n uint32) error {
	if !f.lacksSpace(n) {
		return nil
	}
	need := int(f.unitAt(n + 1))
	to := min(max(need, f.reserved+indexReserveStep), len(f.b))
	if err := f.region.Reserve(f.reserved, to); err != nil {
		return err
	}
	f.reserved = to
	return nil
}

func (f *indexFile) sync() error {
	if !f.dirty {
		return nil
	}
	if err := f.region.Sync(0, int(f.unitAt(f.head.next))); err != nil {
		return err
	}
	f.dirty = false
	return nil
}
