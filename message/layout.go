package message

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"net/netip"
)

// Magic codes of the CommitLog.
const (
	MagicV1    uint32 = 0xDAA320A7
	MagicV2    uint32 = 0xDAA320AB // the topic's length takes two bytes
	MagicBlank uint32 = 0xCBD43194 // the rest of the file is unused
)

// Limits of the layout, bytes.
const (
	MaxPropertiesLength = 32_767
	MaxTopicLength      = 127 // of a v1 record
	// BlankLength is what stays free at the end of a log file at least.
	BlankLength = 8
)

// Offsets of a record's fixed fields, the same in both versions.
const (
	offSize            = 0
	offMagic           = 4
	offBodyCRC         = 8
	offQueueID         = 12
	offFlag            = 16
	offQueueOffset     = 20
	offCommitLogOffset = 28
	offSysFlag         = 36
	offBornTimestamp   = 40
	offBornHost        = 48
)

// crcMask keeps a body's CRC positive, as Java's int needs it.
const crcMask = 0x7FFFFFFF

// ErrMalformed is what every failure of Parse wraps.
var ErrMalformed = errors.New("malformed record")

// EncodedLen is the size of the record's layout, bytes.
func EncodedLen(r *Record) int {
	topicLen := 1
	if len(r.Topic) > MaxTopicLength {
		topicLen = 2
	}
	return offBornHost + hostLen(r.BornHost) + 8 + hostLen(r.StoreHost) + 4 + 8 +
		4 + len(r.Body) + topicLen + len(r.Topic) + 2 + len(r.Properties)
}

// Begins tells whether b begins like a record of a size, bytes, at a log offset, and reads no more
// of it than that.
func Begins(b []byte, commitLogOffset int64, size int32) bool {
	return len(b) >= offSysFlag && int32(binary.BigEndian.Uint32(b)) == size &&
		int64(binary.BigEndian.Uint64(b[offCommitLogOffset:])) == commitLogOffset
}

// Encode lays the record out at the start of dst, which holds EncodedLen bytes, and
// returns that length. The address family bits of SysFlag follow the hosts.
//
// Layout (big-endian): size i4, magic i4, body CRC i4, queueId i4, flag i4, queueOffset i8,
// commitLogOffset i8, sysFlag i4, bornTimestamp i8, bornHost 4|16+4, storeTimestamp i8,
// storeHost 4|16+4, reconsumeTimes i4, preparedTransactionOffset i8, body length i4, body,
// topic length 1 (v1) or 2 (v2), topic, properties length i2, properties.
func Encode(dst []byte, r *Record) int {
	size := EncodedLen(r)
	b := dst[:size]
	magic := MagicV1
	if len(r.Topic) > MaxTopicLength {
		magic = MagicV2
	}
	be := binary.BigEndian
	be.PutUint32(b[offSize:], uint32(size))
	be.PutUint32(b[offMagic:], magic)
	be.PutUint32(b[offBodyCRC:], crc32.ChecksumIEEE(r.Body)&crcMask)
	be.PutUint32(b[offQueueID:], uint32(r.QueueID))
	be.PutUint32(b[offFlag:], uint32(r.Flag))
	be.PutUint64(b[offQueueOffset:], uint64(r.QueueOffset))
	be.PutUint64(b[offCommitLogOffset:], uint64(r.CommitLogOffset))
	be.PutUint32(b[offSysFlag:], uint32(sysFlagWithHosts(r)))
	be.PutUint64(b[offBornTimestamp:], uint64(r.BornTimestamp))
	at := offBornHost
	at += putHost(b[at:], r.BornHost)
	be.PutUint64(b[at:], uint64(r.StoreTimestamp))
	at += 8
	at += putHost(b[at:], r.StoreHost)
	be.PutUint32(b[at:], uint32(r.ReconsumeTimes))
	be.PutUint64(b[at+4:], uint64(r.PreparedTransactionOffset))
	be.PutUint32(b[at+12:], uint32(len(r.Body)))
	at += 16
	at += copy(b[at:], r.Body)
	if magic == MagicV2 {
		be.PutUint16(b[at:], uint16(len(r.Topic)))
		at += 2
	} else {
		b[at] = byte(len(r.Topic))
		at++
	}
	at += copy(b[at:], r.Topic)
	be.PutUint16(b[at:], uint16(len(r.Properties)))
	copy(b[at+2:], r.Properties)
	return size
}

// Patch writes what is known only inside the append lock into an encoded record: the
// queue offset (units), the log offset (bytes) and the store timestamp (ms).
func Patch(b []byte, queueOffset, commitLogOffset, storeTimestamp int64) {
	be := binary.BigEndian
	be.PutUint64(b[offQueueOffset:], uint64(queueOffset))
	be.PutUint64(b[offCommitLogOffset:], uint64(commitLogOffset))
	at := offBornHost + 8
	if int32(be.Uint32(b[offSysFlag:]))&SysFlagBornHostV6 != 0 {
		at += 12
	}
	be.PutUint64(b[at:], uint64(storeTimestamp))
}

// Parse reads the record at the start of b in place and checks that its lengths agree.
// The body's CRC is not checked; see ParseVerify.
func Parse(b []byte) (View, error) {
	var v View
	if len(b) < offBornHost {
		return v, fmt.Errorf("%w: %d bytes are no header", ErrMalformed, len(b))
	}
	be := binary.BigEndian
	size := int(int32(be.Uint32(b[offSize:])))
	magic := be.Uint32(b[offMagic:])
	if magic != MagicV1 && magic != MagicV2 {
		return v, fmt.Errorf("%w: magic %#x", ErrMalformed, magic)
	}
	if size < offBornHost || size > len(b) {
		return v, fmt.Errorf("%w: size %d of %d bytes", ErrMalformed, size, len(b))
	}
	b = b[:size]
	v.Size = int32(size)
	v.BodyCRC = be.Uint32(b[offBodyCRC:])
	v.QueueID = int32(be.Uint32(b[offQueueID:]))
	v.Flag = int32(be.Uint32(b[offFlag:]))
	v.QueueOffset = int64(be.Uint64(b[offQueueOffset:]))
	v.CommitLogOffset = int64(be.Uint64(b[offCommitLogOffset:]))
	v.SysFlag = int32(be.Uint32(b[offSysFlag:]))
	v.BornTimestamp = int64(be.Uint64(b[offBornTimestamp:]))

	rest := tail{b: b[offBornHost:], ok: true}
	v.BornHost = rest.host(v.SysFlag&SysFlagBornHostV6 != 0)
	v.StoreTimestamp = int64(rest.uint64())
	v.StoreHost = rest.host(v.SysFlag&SysFlagStoreHostV6 != 0)
	v.ReconsumeTimes = int32(rest.uint32())
	v.PreparedTransactionOffset = int64(rest.uint64())
	v.Body = rest.take(int(int32(rest.uint32())))
	if magic == MagicV2 {
		v.Topic = rest.take(int(rest.uint16()))
	} else {
		v.Topic = rest.take(int(rest.uint8()))
	}
	v.Properties = rest.take(int(rest.uint16()))
	if !rest.ok || len(rest.b) != 0 {
		return View{}, fmt.Errorf("%w: its lengths do not add up to %d", ErrMalformed, size)
	}
	return v, nil
}

// PropertiesOf are the properties of the record at the start of b, and false when its lengths do not agree:
// what Parse finds, for those who need no more of it.
func PropertiesOf(b []byte) (props []byte, ok bool) {
	if len(b) < offBornHost {
		return nil, false
	}
	be := binary.BigEndian
	size, magic := int(int32(be.Uint32(b[offSize:]))), be.Uint32(b[offMagic:])
	if magic != MagicV1 && magic != MagicV2 || size < offBornHost || size > len(b) {
		return nil, false
	}
	rest := tail{b: b[offBornHost:size], ok: true}
	rest.take(fixedBehindHost(int32(be.Uint32(b[offSysFlag:]))))
	rest.take(int(int32(rest.uint32())))
	if magic == MagicV2 {
		rest.take(int(rest.uint16()))
	} else {
		rest.take(int(rest.uint8()))
	}
	props = rest.take(int(rest.uint16()))
	if !rest.ok || len(rest.b) != 0 {
		return nil, false
	}
	return props, true
}

// fixedBehindHost is how many bytes lie between the born host's begin and the body's length.
func fixedBehindHost(sysFlag int32) int {
	n := 8 + 8 + 8 + 4 + 8
	for _, v6 := range []int32{SysFlagBornHostV6, SysFlagStoreHostV6} {
		if sysFlag&v6 != 0 {
			n += 12
		}
	}
	return n
}

// ParseVerify is Parse with a check of the body's CRC.
func ParseVerify(b []byte) (View, error) {
	v, err := Parse(b)
	if err != nil {
		return v, err
	}
	if crc := crc32.ChecksumIEEE(v.Body) & crcMask; crc != v.BodyCRC {
		return View{}, fmt.Errorf("%w: body CRC is %#x, recorded %#x", ErrMalformed, crc, v.BodyCRC)
	}
	return v, nil
}

func sysFlagWithHosts(r *Record) int32 {
	flag := r.SysFlag &^ (SysFlagBornHostV6 | SysFlagStoreHostV6)
	if isV6(r.BornHost) {
		flag |= SysFlagBornHostV6
	}
	if isV6(r.StoreHost) {
		flag |= SysFlagStoreHostV6
	}
	return flag
}

func isV6(host netip.AddrPort) bool {
	addr := host.Addr()
	return addr.Is6() && !addr.Is4In6()
}

func hostLen(host netip.AddrPort) int {
	if isV6(host) {
		return 20
	}
	return 8
}

// putHost writes the address and a four-byte port; the zero AddrPort becomes 0.0.0.0:0.
func putHost(b []byte, host netip.AddrPort) int {
	if isV6(host) {
		addr := host.Addr().As16()
		copy(b, addr[:])
		binary.BigEndian.PutUint32(b[16:], uint32(host.Port()))
		return 20
	}
	var addr [4]byte
	if host.IsValid() {
		addr = host.Addr().Unmap().As4()
	}
	copy(b, addr[:])
	binary.BigEndian.PutUint32(b[4:], uint32(host.Port()))
	return 8
}

// tail reads fields from the front of b; ok turns false when one does not fit.
type tail struct {
	b  []byte
	ok bool
}

func (t *tail) take(n int) []byte {
	if n < 0 || n > len(t.b) {
		t.ok, t.b = false, nil
		return nil
	}
	taken := t.b[:n:n]
	t.b = t.b[n:]
	return taken
}

func (t *tail) uint8() uint8 {
	if b := t.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (t *tail) uint16() uint16 {
	if b := t.take(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (t *tail) uint32() uint32 {
	if b := t.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (t *tail) uint64() uint64 {
	if b := t.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

func (t *tail) host(v6 bool) netip.AddrPort {
	n := 4
	if v6 {
		n = 16
	}
	addr, _ := netip.AddrFromSlice(t.take(n))
	return netip.AddrPortFrom(addr, uint16(t.uint32()))
}
