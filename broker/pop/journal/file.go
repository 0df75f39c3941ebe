package journal

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strconv"

	"github.com/wheelmq/wheelmq/store/region"
)

const (
	magic      = "WMQPOPJ1"
	headerSize = 64
	recordHead = 7
	// maxPayload is the largest payload of a record, bytes.
	maxPayload = 1<<16 - 1
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// file is one file of the journal. The journal's lock guards end.
type file struct {
	number uint32
	region region.Region
	b      []byte
	end    int   // of its records
	base   int64 // of its first byte, counted over all files since the start
	synced int   // of its records; guarded by the journal's sync lock
	crc    uint32
}

func nameOf(dir string, number uint32) string { return fmt.Sprintf("%s/%010d", dir, number) }

func numberOf(name string) (number uint32, ok bool) {
	if len(name) != 10 {
		return 0, false
	}
	n, err := strconv.ParseUint(name, 10, 32)
	return uint32(n), err == nil && n > 0
}

// header is what a file begins with.
type header struct {
	number, oldest uint32
	before         uint32 // end of the file before it
	durable        place
	epoch          uint64
	note           int64
}

// place is one of the journal's bytes.
type place struct{ file, at uint32 }

func (p place) before(q place) bool { return p.file < q.file || p.file == q.file && p.at < q.at }

func (h *header) write(b []byte) {
	copy(b, magic)
	binary.BigEndian.PutUint32(b[8:], h.number)
	binary.BigEndian.PutUint32(b[12:], h.oldest)
	binary.BigEndian.PutUint32(b[16:], h.before)
	binary.BigEndian.PutUint32(b[20:], h.durable.file)
	binary.BigEndian.PutUint32(b[24:], h.durable.at)
	binary.BigEndian.PutUint64(b[28:], h.epoch)
	binary.BigEndian.PutUint64(b[36:], uint64(h.note))
	clear(b[44:60])
	binary.BigEndian.PutUint32(b[60:], crc32.Checksum(b[:60], castagnoli))
}

// readHeader returns the header of a file, false: it has none.
func readHeader(b []byte) (h header, ok bool) {
	if len(b) < headerSize || string(b[:8]) != magic || binary.BigEndian.Uint32(b[60:]) != crc32.Checksum(b[:60], castagnoli) {
		return header{}, false
	}
	return header{
		number: binary.BigEndian.Uint32(b[8:]), oldest: binary.BigEndian.Uint32(b[12:]), before: binary.BigEndian.Uint32(b[16:]),
		durable: place{binary.BigEndian.Uint32(b[20:]), binary.BigEndian.Uint32(b[24:])},
		epoch:   binary.BigEndian.Uint64(b[28:]), note: int64(binary.BigEndian.Uint64(b[36:])),
	}, true
}

// seed is what the CRCs of a file's records begin with.
func seed(number uint32) uint32 {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], number)
	return crc32.Checksum(b[:], castagnoli)
}

// checksum is the CRC of the record that begins at a place and of which b is all but the CRC.
func checksum(seed uint32, at int, b []byte) uint32 {
	return crc32.Update(seed^uint32(at)*0x9E3779B1, castagnoli, b)
}

// fits tells whether a record with a payload of n bytes fits.
func (f *file) fits(n int) bool { return f.end+recordHead+n <= len(f.b) }

// write appends a record that fits.
func (f *file) write(kind byte, payload []byte) {
	b := f.b[f.end:]
	binary.BigEndian.PutUint16(b[4:], uint16(len(payload)))
	b[6] = kind
	copy(b[recordHead:], payload)
	// The CRC comes last: what a kill cuts off is not sound.
	binary.BigEndian.PutUint32(b, checksum(f.crc, f.end, b[4:recordHead+len(payload)]))
	f.end += recordHead + len(payload)
}

// read returns the record at a place, false: no sound one begins there.
func (f *file) read(at int) (kind byte, payload []byte, next int, ok bool) {
	if at+recordHead > len(f.b) || f.b[at+6] == 0 {
		return 0, nil, at, false
	}
	next = at + recordHead + int(binary.BigEndian.Uint16(f.b[at+4:]))
	if next > len(f.b) || binary.BigEndian.Uint32(f.b[at:]) != checksum(f.crc, at, f.b[at+4:next]) {
		return 0, nil, at, false
	}
	return f.b[at+6], f.b[at+recordHead : next], next, true
}

// resume returns where the next sound record begins behind a place where none does; limit: nowhere before it.
func (f *file) resume(at, limit int) int {
	for at++; at+recordHead <= limit; at++ {
		if f.b[at+6] == 0 {
			continue
		}
		if _, _, _, ok := f.read(at); ok {
			return at
		}
	}
	return limit
}
