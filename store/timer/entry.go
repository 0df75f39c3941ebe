package timer

import (
	"encoding/binary"
	"math"
)

// Flags tell what an Entry is; 0 is a message.
type Flags uint16

// The flags of an Entry.
const (
	Cancel    Flags = 1 << iota // removes the messages of its second with its key
	CancelRef                   // removes one message, which its record names
)

// Entry is a pending message, or what removes one, by where its record lies in the CommitLog.
// Arrival order is log order.
type Entry struct {
	Due       int64 // ms in the Timeline's own time
	LogOffset int64 // bytes
	Size      int32 // of the record, bytes
	Flags     Flags
}

// Item is an entry of a second that is being read. Record is its stored bytes when the Timeline
// has them (far), valid until the Reader is closed; nil: they are in the CommitLog.
type Item struct {
	Entry
	Record []byte
}

// entrySize is that of a near entry, bytes: ms from the begin of its slot i2, flags u2, size
// of the record i4, log offset i8, big-endian.
const entrySize = 16

// putEntry writes an entry of a slot. A due instant further back than an i2 reaches is moved
// closer: it is long past anyway.
func putEntry(b []byte, e Entry, slot int64) {
	ms := min(max(e.Due-slot*1000, math.MinInt16), math.MaxInt16)
	binary.BigEndian.PutUint16(b, uint16(ms))
	binary.BigEndian.PutUint16(b[2:], uint16(e.Flags))
	binary.BigEndian.PutUint32(b[4:], uint32(e.Size))
	binary.BigEndian.PutUint64(b[8:], uint64(e.LogOffset))
}

// entryOf reads an entry of a slot.
func entryOf(b []byte, slot int64) Entry {
	return Entry{
		Due:       slot*1000 + int64(int16(binary.BigEndian.Uint16(b))),
		Flags:     Flags(binary.BigEndian.Uint16(b[2:])),
		Size:      int32(binary.BigEndian.Uint32(b[4:])),
		LogOffset: int64(binary.BigEndian.Uint64(b[8:])),
	}
}

// fits tells whether an entry may be kept in a slot: a message must not become due earlier by
// it, which it would where the ms from the slot's begin do not fit.
func (e *Entry) fits(slot int64) bool {
	return e.Size > 0 && e.LogOffset >= 0 && (e.Flags != 0 || e.Due-slot*1000 <= math.MaxInt16)
}
