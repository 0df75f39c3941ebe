package remoting

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// scanner walks over JSON in place. Texts with escapes are unescaped into scratch, which
// may move as it grows: slices handed out before keep their old array.
type scanner struct {
	b       []byte
	at      int
	scratch *[]byte
}

func (s *scanner) fail(want string) error {
	return fmt.Errorf("%w: JSON header at byte %d: want %s", ErrFrame, s.at, want)
}

func (s *scanner) blank() {
	for s.at < len(s.b) {
		switch s.b[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

func (s *scanner) consume(c byte) bool {
	if s.at < len(s.b) && s.b[s.at] == c {
		s.at++
		return true
	}
	s.blank()
	if s.at < len(s.b) && s.b[s.at] == c {
		s.at++
		return true
	}
	return false
}

func (s *scanner) end() error {
	s.blank()
	if s.at != len(s.b) {
		return s.fail("nothing more")
	}
	return nil
}

// text reads a string.
func (s *scanner) text() ([]byte, error) {
	if !s.consume('"') {
		return nil, s.fail("a string")
	}
	start := s.at
	end := untilSpecial(s.b, start)
	if end == len(s.b) {
		s.at = end
		return nil, s.fail("the end of a string")
	}
	if s.b[end] == '"' {
		s.at = end + 1
		return s.b[start:end:end], nil
	}
	s.at = end
	return s.escapedText(start)
}

func (s *scanner) escapedText(start int) ([]byte, error) {
	out := *s.scratch
	from := len(out)
	for run := start; s.at < len(s.b); {
		out = append(out, s.b[run:s.at]...)
		c := s.b[s.at]
		s.at++
		if c == '"' {
			*s.scratch = out
			return out[from:len(out):len(out)], nil
		}
		var err error
		if out, err = s.escape(out); err != nil {
			return nil, err
		}
		run = s.at
		s.at = untilSpecial(s.b, run)
	}
	return nil, s.fail("the end of a string")
}

// Eight bytes at a time: each, and the highest bit of each.
const (
	eachByte = 0x0101010101010101
	highBits = 0x8080808080808080
)

// zeroBytes marks, by their highest bits, the zero bytes of w; above the lowest mark others
// may be wrong.
func zeroBytes(w uint64) uint64 { return (w - eachByte) &^ w & highBits }

// untilSpecial is where the first quote or backslash of b is, from at on, or len(b).
func untilSpecial(b []byte, at int) int {
	for ; len(b)-at >= 8; at += 8 {
		w := binary.LittleEndian.Uint64(b[at:])
		if found := zeroBytes(w^'"'*eachByte) | zeroBytes(w^'\\'*eachByte); found != 0 {
			return at + bits.TrailingZeros64(found)/8
		}
	}
	for ; at < len(b); at++ {
		if b[at] == '"' || b[at] == '\\' {
			break
		}
	}
	return at
}

// shortText is untilSpecial for texts that are often one byte long.
func shortText(b []byte, at int) int {
	if at+1 < len(b) && b[at+1] == '"' && b[at] != '"' && b[at] != '\\' {
		return at + 1
	}
	return untilSpecial(b, at)
}

func (s *scanner) escape(out []byte) ([]byte, error) {
	if s.at >= len(s.b) {
		return nil, s.fail("an escape")
	}
	c := s.b[s.at]
	s.at++
	switch c {
	case 'n':
		return append(out, '\n'), nil
	case 't':
		return append(out, '\t'), nil
	case 'r':
		return append(out, '\r'), nil
	case 'b':
		return append(out, '\b'), nil
	case 'f':
		return append(out, '\f'), nil
	case 'u':
		// The separators of properties, with which the hot headers are full.
		if b := s.b[s.at:]; len(b) >= 4 && b[0] == '0' && b[1] == '0' && b[2] == '0' && (b[3] == '1' || b[3] == '2') {
			s.at += 4
			return append(out, b[3]-'0'), nil
		}
		r, err := s.codePoint()
		if err != nil {
			return nil, err
		}
		return utf8.AppendRune(out, r), nil
	default:
		return append(out, c), nil
	}
}

// codePoint reads the four digits of an escape and, after a high surrogate, the escape of the
// low one. Half a pair becomes a question mark, which is what Java stores for it.
func (s *scanner) codePoint() (rune, error) {
	r, err := s.hex4()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	if !bytes.HasPrefix(s.b[s.at:], []byte(`\u`)) {
		return '?', nil
	}
	next := s.at
	s.at += 2
	low, err := s.hex4()
	if err != nil {
		return 0, err
	}
	if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
		return pair, nil
	}
	s.at = next
	return '?', nil
}

func (s *scanner) hex4() (rune, error) {
	if s.at+4 > len(s.b) {
		return 0, s.fail("four hex digits")
	}
	var r rune
	for _, c := range s.b[s.at : s.at+4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, s.fail("a hex digit")
		}
	}
	s.at += 4
	return r, nil
}

// value reads any value as text: a string's content, a literal or number as written, an
// object or array as its JSON; null is nil.
func (s *scanner) value() ([]byte, error) {
	s.blank()
	if s.at >= len(s.b) {
		return nil, s.fail("a value")
	}
	switch s.b[s.at] {
	case '"':
		return s.text()
	case '{', '[':
		return s.nested()
	}
	start := s.at
	for s.at < len(s.b) && isLiteral(s.b[s.at]) {
		s.at++
	}
	word := s.b[start:s.at:s.at]
	switch {
	case string(word) == "null":
		return nil, nil
	case string(word) == "true" || string(word) == "false":
		return word, nil
	case len(word) > 0 && (word[0] == '-' || word[0] >= '0' && word[0] <= '9'):
		return word, nil
	}
	s.at = start
	return nil, s.fail("a value")
}

func isLiteral(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '-' || c == '+' || c == '.'
}

// nested passes over an object or array; only its brackets and strings are understood.
func (s *scanner) nested() ([]byte, error) {
	start, depth := s.at, 0
	for s.at < len(s.b) {
		switch s.b[s.at] {
		case '{', '[':
			depth++
			s.at++
		case '}', ']':
			depth--
			s.at++
			if depth == 0 {
				return s.b[start:s.at:s.at], nil
			}
		case '"':
			keep := len(*s.scratch)
			if _, err := s.text(); err != nil {
				return nil, err
			}
			*s.scratch = (*s.scratch)[:keep]
		default:
			s.at++
		}
	}
	return nil, s.fail("a closing bracket")
}

func (s *scanner) int32() (int32, error) {
	// Clients write short numbers without quotes.
	n, at := int32(0), s.at
	for ; at < len(s.b) && at-s.at < 9 && s.b[at]-'0' <= 9; at++ {
		n = n*10 + int32(s.b[at]-'0')
	}
	if at > s.at && at < len(s.b) && (s.b[at] == ',' || s.b[at] == '}') {
		s.at = at
		return n, nil
	}
	return s.anyInt32()
}

func (s *scanner) anyInt32() (int32, error) {
	v, err := s.value()
	if err != nil || v == nil {
		return 0, err
	}
	n, ok := parseInt(v)
	if !ok || n > math.MaxInt32 || n < math.MinInt32 {
		return 0, s.fail("a 32-bit integer")
	}
	return int32(n), nil
}

// parseInt reads a decimal int64 without allocating.
func parseInt(b []byte) (int64, bool) {
	if len(b) == 1 && b[0]-'0' <= 9 {
		return int64(b[0] - '0'), true
	}
	negative := false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		negative = b[0] == '-'
		b = b[1:]
	}
	if len(b) == 0 || len(b) > 19 {
		return 0, false
	}
	var n uint64
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	switch {
	case negative && n <= 1<<63:
		return -int64(n), true
	case !negative && n < 1<<63:
		return int64(n), true
	}
	return 0, false
}
