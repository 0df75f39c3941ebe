package wire

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

// Header types of a frame, the top byte of the header length.
const (
	JSON   = 0
	Binary = 1
)

// Bits of Frame.Flag.
const (
	FlagResponse = 1
	FlagOneway   = 2
)

// Client version and language that the suites announce. The version is that of
// RocketMQ 5.5.0, so that no answer depends on an old client's dialect.
const (
	Version  = 513
	Language = "JAVA"
)

// maxFrame is the largest frame that RocketMQ accepts, length word included.
const maxFrame = 16 << 20

// Frame is one request or answer.
type Frame struct {
	Code   int
	Flag   int
	Opaque int32
	Remark string
	Ext    map[string]string
	Body   []byte
	// Language and Version are what the other side announced.
	Language string
	Version  int
	// Type is the header type of a frame that was read: JSON or Binary.
	Type byte
}

// IsResponse tells whether f answers one of our requests.
func (f *Frame) IsResponse() bool { return f.Flag&FlagResponse != 0 }

// String shows the parts that matter in a failure message.
func (f *Frame) String() string {
	return fmt.Sprintf("code %d, remark %q, ext %v, body %d bytes", f.Code, f.Remark, f.Ext, len(f.Body))
}

// jsonHeader is the JSON form of a header; extFields are strings on the wire.
type jsonHeader struct {
	Code      int               `json:"code"`
	Language  string            `json:"language"`
	Version   int               `json:"version"`
	Opaque    int32             `json:"opaque"`
	Flag      int               `json:"flag"`
	Remark    string            `json:"remark,omitempty"`
	ExtFields map[string]string `json:"extFields,omitempty"`
	Serialize string            `json:"serializeTypeCurrentRPC,omitempty"`
}

// Encode lays f out with a JSON header: length of the rest (4), header length
// (4), header, body. All integers are big-endian.
func (f *Frame) Encode() ([]byte, error) {
	header, err := json.Marshal(jsonHeader{
		Code: f.Code, Language: Language, Version: Version, Opaque: f.Opaque, Flag: f.Flag,
		Remark: f.Remark, ExtFields: f.Ext, Serialize: "JSON",
	})
	if err != nil {
		return nil, fmt.Errorf("wire: header: %w", err)
	}
	return assemble(JSON, header, f.Body), nil
}

// EncodeBinary lays f out with a ROCKETMQ header: code (2), language (1),
// version (2), opaque (4), flag (4), remark length and text (4+n), length of
// the fields (4), then per field key length (2), key, value length (4), value.
// The code is cut to 16 bits, as every encoder of this form does.
func (f *Frame) EncodeBinary() []byte {
	const java = 0
	var fields []byte
	for _, key := range slices.Sorted(maps.Keys(f.Ext)) {
		fields = binary.BigEndian.AppendUint16(fields, uint16(len(key)))
		fields = append(fields, key...)
		fields = binary.BigEndian.AppendUint32(fields, uint32(len(f.Ext[key])))
		fields = append(fields, f.Ext[key]...)
	}
	h := binary.BigEndian.AppendUint16(nil, uint16(f.Code))
	h = append(h, java)
	h = binary.BigEndian.AppendUint16(h, Version)
	h = binary.BigEndian.AppendUint32(h, uint32(f.Opaque))
	h = binary.BigEndian.AppendUint32(h, uint32(f.Flag))
	h = binary.BigEndian.AppendUint32(h, uint32(len(f.Remark)))
	h = append(h, f.Remark...)
	h = binary.BigEndian.AppendUint32(h, uint32(len(fields)))
	h = append(h, fields...)
	return assemble(Binary, h, f.Body)
}

func assemble(kind byte, header, body []byte) []byte {
	b := make([]byte, 0, 8+len(header)+len(body))
	b = binary.BigEndian.AppendUint32(b, uint32(4+len(header)+len(body)))
	b = binary.BigEndian.AppendUint32(b, uint32(kind)<<24|uint32(len(header)))
	b = append(b, header...)
	return append(b, body...)
}

// ReadFrame reads one frame. io.EOF means the stream ended between two frames.
func ReadFrame(r io.Reader) (*Frame, error) {
	var lengths [8]byte
	if _, err := io.ReadFull(r, lengths[:4]); err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(r, lengths[4:]); err != nil {
		return nil, noEOF(err)
	}
	total := binary.BigEndian.Uint32(lengths[:4])
	word := binary.BigEndian.Uint32(lengths[4:])
	size := word & 0xFFFFFF
	if total < 4 || total > maxFrame-4 || size > total-4 {
		return nil, fmt.Errorf("wire: frame of %d bytes with a header of %d", total, size)
	}
	rest := make([]byte, total-4)
	if _, err := io.ReadFull(r, rest); err != nil {
		return nil, noEOF(err)
	}
	f := &Frame{Type: byte(word >> 24)}
	if len(rest) > int(size) {
		f.Body = rest[size:]
	}
	switch f.Type {
	case JSON:
		return f, f.decodeJSON(rest[:size])
	case Binary:
		return f, f.decodeBinary(rest[:size])
	}
	return nil, fmt.Errorf("wire: header type %d", f.Type)
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (f *Frame) decodeJSON(header []byte) error {
	var h jsonHeader
	if err := json.Unmarshal(header, &h); err != nil {
		return fmt.Errorf("wire: header %q: %w", header, err)
	}
	f.Code, f.Flag, f.Opaque, f.Remark, f.Ext = h.Code, h.Flag, h.Opaque, h.Remark, h.ExtFields
	f.Language, f.Version = h.Language, h.Version
	return nil
}

func (f *Frame) decodeBinary(header []byte) error {
	r := reader{b: header}
	f.Code = int(int16(r.uint16()))
	f.Language = fmt.Sprint(r.take(1))
	f.Version = int(r.uint16())
	f.Opaque = int32(r.uint32())
	f.Flag = int(r.uint32())
	f.Remark = string(r.take(int(r.uint32())))
	fields := reader{b: r.take(int(r.uint32()))}
	f.Ext = make(map[string]string)
	for len(fields.b) > 0 && fields.err == nil {
		key := string(fields.take(int(fields.uint16())))
		f.Ext[key] = string(fields.take(int(fields.uint32())))
	}
	if err := errors.Join(r.err, fields.err); err != nil {
		return fmt.Errorf("wire: binary header: %w", err)
	}
	return nil
}

// reader takes big-endian values off the front of b and remembers the first
// overrun.
type reader struct {
	b   []byte
	err error
}

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		if r.err == nil {
			r.err = fmt.Errorf("%d bytes wanted, %d left: %w", n, len(r.b), io.ErrUnexpectedEOF)
		}
		r.b = nil
		return nil
	}
	head := r.b[:n]
	r.b = r.b[n:]
	return head
}

func (r *reader) uint16() uint16 {
	if b := r.take(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (r *reader) uint32() uint32 {
	if b := r.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (r *reader) uint64() uint64 {
	if b := r.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}
