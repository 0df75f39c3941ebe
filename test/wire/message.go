package wire

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"net/netip"
	"strings"
)

// Magic words of a stored message: v2 has a topic length of two bytes.
const (
	magicV1 = 0xDAA320A7
	magicV2 = 0xDAA320AB
)

// Bits of a message's sysFlag.
const (
	SysFlagCompressed = 0x1
	SysFlagBornHostV6 = 0x10
	SysFlagStoreV6    = 0x20
)

// Message is one message in the binary layout of pull and view answers.
type Message struct {
	QueueID         int
	Flag            int32
	QueueOffset     int64
	CommitLogOffset int64
	SysFlag         int32
	// BornTimestamp and StoreTimestamp are milliseconds since 1970.
	BornTimestamp, StoreTimestamp int64
	BornHost, StoreHost           netip.AddrPort
	ReconsumeTimes                int32
	PreparedOffset                int64
	Body                          []byte
	Topic                         string
	// RawProperties is the wire form, key 0x01 value 0x02; Properties is its parse.
	RawProperties string
	Properties    map[string]string
}

// Messages decodes a body of messages laid end to end and checks every size,
// magic word and body CRC.
func Messages(body []byte) ([]Message, error) {
	var list []Message
	for len(body) > 0 {
		if len(body) < 4 {
			return list, fmt.Errorf("wire: %d bytes behind message %d", len(body), len(list))
		}
		size := binary.BigEndian.Uint32(body)
		if size < 4 || int(size) > len(body) {
			return list, fmt.Errorf("wire: message %d has size %d, %d bytes are left", len(list), size, len(body))
		}
		m, err := decodeMessage(body[4:size])
		if err != nil {
			return list, fmt.Errorf("wire: message %d: %w", len(list), err)
		}
		list = append(list, m)
		body = body[size:]
	}
	return list, nil
}

func decodeMessage(b []byte) (m Message, err error) {
	r := reader{b: b}
	magic := r.uint32()
	if magic != magicV1 && magic != magicV2 {
		return m, fmt.Errorf("magic %#x", magic)
	}
	crc := r.uint32()
	m.QueueID = int(int32(r.uint32()))
	m.Flag = int32(r.uint32())
	m.QueueOffset = int64(r.uint64())
	m.CommitLogOffset = int64(r.uint64())
	m.SysFlag = int32(r.uint32())
	m.BornTimestamp = int64(r.uint64())
	m.BornHost = r.host(m.SysFlag&SysFlagBornHostV6 != 0)
	m.StoreTimestamp = int64(r.uint64())
	m.StoreHost = r.host(m.SysFlag&SysFlagStoreV6 != 0)
	m.ReconsumeTimes = int32(r.uint32())
	m.PreparedOffset = int64(r.uint64())
	m.Body = r.take(int(r.uint32()))
	if magic == magicV1 {
		if n := r.take(1); n != nil {
			m.Topic = string(r.take(int(n[0])))
		}
	} else {
		m.Topic = string(r.take(int(r.uint16())))
	}
	m.RawProperties = string(r.take(int(r.uint16())))
	m.Properties = ParseProperties(m.RawProperties)
	switch {
	case r.err != nil:
		return m, r.err
	case len(r.b) != 0:
		return m, fmt.Errorf("%d bytes behind the properties", len(r.b))
	case crc32.ChecksumIEEE(m.Body)&0x7FFFFFFF != crc:
		return m, fmt.Errorf("body CRC %#x does not match the %d bytes of body", crc, len(m.Body))
	}
	return m, nil
}

func (r *reader) host(v6 bool) netip.AddrPort {
	size := 4
	if v6 {
		size = 16
	}
	addr, _ := netip.AddrFromSlice(r.take(size))
	return netip.AddrPortFrom(addr, uint16(r.uint32()))
}

// Separators of the properties string.
const (
	nameEnd  = "\x01"
	valueEnd = "\x02"
)

// ParseProperties splits at 0x02 and then at the first 0x01; what has no 0x01
// is dropped.
func ParseProperties(s string) map[string]string {
	properties := make(map[string]string)
	for item := range strings.SplitSeq(s, valueEnd) {
		if name, value, ok := strings.Cut(item, nameEnd); ok {
			properties[name] = value
		}
	}
	return properties
}

// Properties builds the wire form of key, value, key, value …
func Properties(pairs ...string) string {
	var b strings.Builder
	for i := 0; i+1 < len(pairs); i += 2 {
		b.WriteString(pairs[i] + nameEnd + pairs[i+1] + valueEnd)
	}
	return b.String()
}

// ParseMsgID splits an offset message id: address (4 or 16 bytes), port (4) and
// CommitLog offset (8) in upper-case hex, 32 or 56 digits.
func ParseMsgID(id string) (host netip.AddrPort, offset int64, err error) {
	if id != strings.ToUpper(id) || (len(id) != 32 && len(id) != 56) {
		return host, 0, fmt.Errorf("wire: message id %q is not 32 or 56 digits of upper-case hex", id)
	}
	b, err := hex.DecodeString(id)
	if err != nil {
		return host, 0, fmt.Errorf("wire: message id: %w", err)
	}
	r := reader{b: b}
	host = r.host(len(id) == 56)
	offset = int64(r.uint64())
	return host, offset, r.err
}

// BatchItem is one message of a batch.
type BatchItem struct {
	Flag       int32
	Body       []byte
	Properties string
}

// Batch lays out the body of a batch send: per message total size (4), magic
// (4), CRC (4), flag (4), body length and body, properties length (2) and
// properties. Magic and CRC are 0, as clients leave them.
func Batch(items ...BatchItem) []byte {
	var b []byte
	for _, item := range items {
		size := 4 + 4 + 4 + 4 + 4 + len(item.Body) + 2 + len(item.Properties)
		b = binary.BigEndian.AppendUint32(b, uint32(size))
		b = append(b, make([]byte, 8)...)
		b = binary.BigEndian.AppendUint32(b, uint32(item.Flag))
		b = binary.BigEndian.AppendUint32(b, uint32(len(item.Body)))
		b = append(b, item.Body...)
		b = binary.BigEndian.AppendUint16(b, uint16(len(item.Properties)))
		b = append(b, item.Properties...)
	}
	return b
}

// errNoMessage is returned when an answer of code 0 carries no message.
var errNoMessage = errors.New("wire: no message in the answer")
