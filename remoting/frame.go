package remoting

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// frameHead is the length word and the word with the serialize type and header length.
const frameHead = 8

// ErrFrame is what every failure to decode a frame wraps. The real server closes the
// connection on such a frame without an answer, and so does this one.
var ErrFrame = errors.New("malformed frame")

// FrameLength reads the length word of a frame. It returns the length of the whole frame,
// bytes, or 0 when b is too short to tell.
func FrameLength(b []byte) (int, error) {
	if len(b) < 4 {
		return 0, nil
	}
	length := int32(binary.BigEndian.Uint32(b))
	if length < 4 || length > MaxFrameLength-4 {
		return 0, fmt.Errorf("%w: length %d%s", ErrFrame, length, otherProtocol(b))
	}
	return int(length) + 4, nil
}

// otherProtocol tells whoever reads the log what came instead of a length word: probes and
// scrapes are pointed at the wrong port, and clients use TLS.
func otherProtocol(b []byte) string {
	switch word := string(b[:4]); {
	case word == "GET " || word == "HEAD" || word == "POST" || word == "PUT ":
		return ", it begins as an HTTP request"
	case word[0] == 0x16 && word[1] == 3:
		return ", it begins as a TLS connection"
	}
	return ""
}

// Decode reads a whole frame, its length word included, in place into cmd.
func Decode(frame []byte, cmd *Command) error {
	if len(frame) < frameHead {
		return fmt.Errorf("%w: %d bytes", ErrFrame, len(frame))
	}
	word := binary.BigEndian.Uint32(frame[4:])
	headerLen := int(word & 0xFFFFFF)
	if headerLen > len(frame)-frameHead {
		return fmt.Errorf("%w: header of %d bytes in a frame of %d", ErrFrame, headerLen, len(frame))
	}
	header, body := frame[frameHead:frameHead+headerLen], frame[frameHead+headerLen:]
	cmd.reset()
	if len(body) > 0 {
		cmd.Body = body
	}
	cmd.Serialize = SerializeType(word >> 24)
	switch cmd.Serialize {
	case SerializeJSON:
		return decodeJSON(header, cmd)
	case SerializeRocketMQ:
		return decodeRocketMQ(header, cmd)
	default:
		return fmt.Errorf("%w: serialize type %d", ErrFrame, cmd.Serialize)
	}
}

// beginFrame reserves the two length words.
func beginFrame(dst []byte) []byte { return append(dst, 0, 0, 0, 0, 0, 0, 0, 0) }

// endHeader fills in the length words of the frame that starts at start, whose header ends
// at the end of dst and which bodyLen bytes follow.
func endHeader(dst []byte, start int, serialize SerializeType, bodyLen int) []byte {
	headerLen := len(dst) - start - frameHead
	binary.BigEndian.PutUint32(dst[start:], uint32(4+headerLen+bodyLen))
	binary.BigEndian.PutUint32(dst[start+4:], uint32(serialize)<<24|uint32(headerLen))
	return dst
}
