package timer

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// A block holds entries of one second in the TimerLog, big-endian:
//
//	CRC-32C of what follows u4, magic u2, entries u2, second i8, position of the block before i8 or -1
//	entries, 16 bytes each
const (
	blockEntries = 64
	blockHeader  = 24
	blockMagic   = 0x5742 // "WB"
	maxBlock     = blockHeader + blockEntries*entrySize
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func blockSize(entries int) int { return blockHeader + entries*entrySize }

// putBlock writes a block of encoded entries.
func putBlock(b []byte, second, prev int64, entries []byte) {
	b = b[:blockHeader+len(entries)]
	binary.BigEndian.PutUint16(b[4:], blockMagic)
	binary.BigEndian.PutUint16(b[6:], uint16(len(entries)/entrySize))
	binary.BigEndian.PutUint64(b[8:], uint64(second))
	binary.BigEndian.PutUint64(b[16:], uint64(prev))
	copy(b[blockHeader:], entries)
	binary.BigEndian.PutUint32(b, crc32.Checksum(b[4:], castagnoli))
}

// readBlock returns the entries of the block at the begin of b, and the position of the one
// before. The error wraps ErrDamaged when b holds no sound block of the second.
func readBlock(b []byte, second int64) (entries []byte, prev int64, err error) {
	if len(b) < blockHeader {
		return nil, 0, fmt.Errorf("%w: %d bytes are no block", ErrDamaged, len(b))
	}
	n := int(binary.BigEndian.Uint16(b[6:]))
	if binary.BigEndian.Uint16(b[4:]) != blockMagic || n == 0 || n > blockEntries || blockSize(n) > len(b) {
		return nil, 0, fmt.Errorf("%w: no block where one was written", ErrDamaged)
	}
	b = b[:blockSize(n)]
	if crc32.Checksum(b[4:], castagnoli) != binary.BigEndian.Uint32(b) {
		return nil, 0, fmt.Errorf("%w: the checksum of a block does not match", ErrDamaged)
	}
	if got := int64(binary.BigEndian.Uint64(b[8:])); got != second {
		return nil, 0, fmt.Errorf("%w: a block of second %d", ErrDamaged, got)
	}
	return b[blockHeader:], int64(binary.BigEndian.Uint64(b[16:])), nil
}
