package remoting

import (
	"encoding/binary"
	"fmt"
)

// decodeRocketMQ reads a ROCKETMQ header: code i2, language 1, version i2, opaque i4, flag
// i4, remark i4+n, extFields i4+entries of key i2+n and value i4+n; all big-endian.
func decodeRocketMQ(header []byte, cmd *Command) error {
	r := binaryReader{b: header, ok: true}
	cmd.Code = int32(int16(r.uint16()))
	cmd.Language = Language(r.uint8())
	cmd.Version = int32(int16(r.uint16()))
	cmd.Opaque = int32(r.uint32())
	cmd.Flag = int32(r.uint32())
	if remark := r.take(int(int32(r.uint32()))); len(remark) > 0 {
		cmd.Remark = string(remark)
	}
	entries := binaryReader{b: r.take(int(int32(r.uint32()))), ok: true}
	for entries.ok && len(entries.b) > 0 {
		key := entries.take(int(entries.uint16()))
		value := entries.take(int(int32(entries.uint32())))
		// A value of length zero is null to the real server.
		if entries.ok && len(value) > 0 {
			cmd.Ext.Add(key, value)
		}
	}
	if !r.ok || !entries.ok {
		return fmt.Errorf("%w: ROCKETMQ header of %d bytes", ErrFrame, len(header))
	}
	return nil
}

// binaryReader takes fields from the front of b; ok turns false when one does not fit.
type binaryReader struct {
	b  []byte
	ok bool
}

func (r *binaryReader) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.ok, r.b = false, nil
		return nil
	}
	taken := r.b[:n:n]
	r.b = r.b[n:]
	return taken
}

func (r *binaryReader) uint8() uint8 {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *binaryReader) uint16() uint16 {
	if b := r.take(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (r *binaryReader) uint32() uint32 {
	if b := r.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

// AppendCommandBinary appends a whole frame with a ROCKETMQ header. Codes of more than 16
// bits are cut, as every peer cuts them.
func AppendCommandBinary(dst []byte, cmd *Command) []byte {
	start := len(dst)
	dst = beginFrame(dst)
	be := binary.BigEndian
	dst = be.AppendUint16(dst, uint16(cmd.Code))
	dst = append(dst, byte(cmd.Language))
	dst = be.AppendUint16(dst, uint16(cmd.Version))
	dst = be.AppendUint32(dst, uint32(cmd.Opaque))
	dst = be.AppendUint32(dst, uint32(cmd.Flag))
	dst = be.AppendUint32(dst, uint32(len(cmd.Remark)))
	dst = append(dst, cmd.Remark...)
	size := 0
	for _, f := range cmd.Ext.list {
		size += 2 + len(f.Key) + 4 + len(f.Value)
	}
	dst = be.AppendUint32(dst, uint32(size))
	for _, f := range cmd.Ext.list {
		dst = be.AppendUint16(dst, uint16(len(f.Key)))
		dst = append(dst, f.Key...)
		dst = be.AppendUint32(dst, uint32(len(f.Value)))
		dst = append(dst, f.Value...)
	}
	dst = endHeader(dst, start, SerializeRocketMQ, len(cmd.Body))
	return append(dst, cmd.Body...)
}
