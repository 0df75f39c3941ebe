package timer

import (
	"encoding/binary"
	"hash/crc32"
	"math"
)

// A far record begins at a multiple of 8 bytes of its extent, big-endian:
//
//	magic u2, flags u2, CRC-32C u4, due ms i8, log offset i8, size i4, second of its slot from that of due i4
//	the record's stored bytes, zeros up to the next multiple of 8
//
// The checksum is over what follows it, and begins with a number made of the four bytes before,
// the extent's id and the position: bytes that were written elsewhere are not taken for these.
const (
	storedHeader = 32
	storedMagic  = 0x5746 // "WF"
	storedAlign  = 8
)

// stored is a far record where it lies.
type stored struct {
	Entry
	slot int64
	b    []byte // with its header
}

func (s *stored) record() []byte { return s.b[storedHeader : storedHeader+int(s.Size)] }

// storedSize is what a record takes in an extent, bytes.
func storedSize(size int) int64 {
	return (storedHeader + int64(size) + storedAlign - 1) &^ (storedAlign - 1)
}

// putStored writes the record of an entry into b, which has its stored size.
func putStored(b []byte, e *Entry, slot int64, record []byte, id uint64, pos int64) {
	binary.BigEndian.PutUint16(b, storedMagic)
	binary.BigEndian.PutUint16(b[2:], uint16(e.Flags))
	binary.BigEndian.PutUint64(b[8:], uint64(e.Due))
	binary.BigEndian.PutUint64(b[16:], uint64(e.LogOffset))
	binary.BigEndian.PutUint32(b[24:], uint32(e.Size))
	binary.BigEndian.PutUint32(b[28:], uint32(slot-secondOf(e.Due)))
	clear(b[storedHeader+copy(b[storedHeader:], record):])
	binary.BigEndian.PutUint32(b[4:], storedSum(b, id, pos))
}

// moveStored writes a sound record into b as that of another place.
func moveStored(b []byte, s *stored, id uint64, pos int64) {
	copy(b, s.b)
	binary.BigEndian.PutUint32(b[4:], storedSum(b, id, pos))
}

func storedSum(b []byte, id uint64, pos int64) uint32 {
	place := (id+1)*0x9E3779B97F4A7C15 ^ uint64(pos)*0xC2B2AE3D27D4EB4F
	return crc32.Update(binary.BigEndian.Uint32(b)^uint32(place>>32)^uint32(place), castagnoli, b[8:])
}

// slotFits tells whether a record can say which slot its entry is in.
func slotFits(e *Entry, slot int64) bool {
	late := slot - secondOf(e.Due)
	return late >= math.MinInt32 && late <= math.MaxInt32
}

// secondOf is the second of an instant in ms.
func secondOf(ms int64) int64 {
	if ms < 0 {
		return (ms - 999) / 1000
	}
	return ms / 1000
}

// storedHead reads the header of a record, and tells how many bytes it has in all; 0 when b does
// not begin with one.
func storedHead(b []byte, s *stored) int64 {
	if binary.BigEndian.Uint16(b) != storedMagic {
		return 0
	}
	s.Flags = Flags(binary.BigEndian.Uint16(b[2:]))
	s.Due = int64(binary.BigEndian.Uint64(b[8:]))
	s.LogOffset = int64(binary.BigEndian.Uint64(b[16:]))
	s.Size = int32(binary.BigEndian.Uint32(b[24:]))
	s.slot = secondOf(s.Due) + int64(int32(binary.BigEndian.Uint32(b[28:])))
	if s.Size <= 0 || s.LogOffset < 0 || s.slot < 0 || s.slot > maxSecond {
		return 0
	}
	return storedSize(int(s.Size))
}

// soundStored tells whether the bytes of a record are those that were written at its place.
func soundStored(b []byte, id uint64, pos int64) bool {
	return binary.BigEndian.Uint32(b[4:]) == storedSum(b, id, pos)
}
