package message

import "unicode/utf8"

// TagsHash is Java's String.hashCode of UTF-8 text, sign extended. It is the tagsCode of a
// queue unit; no tags give 0.
func TagsHash(tags []byte) int64 { return int64(JavaHash(0, tags)) }

// The powers of 31 that eight characters at a time are weighed with, mod 2^32.
const (
	pow2 = 31 * 31
	pow4 = pow2 * pow2
	pow8 = pow4 * pow4 % (1 << 32)
)

// JavaHash is Java's String.hashCode, over UTF-16 units, of UTF-8 text that follows a text
// whose hash is h: 0 for none.
func JavaHash(h int32, text []byte) int32 {
	n := uint32(h)
	for len(text) >= 8 && isASCII(text) {
		t := text[:8]
		// Two at a time, so that the multiplications do not wait for each other.
		a := (uint32(t[0])*31+uint32(t[1]))*pow2 + uint32(t[2])*31 + uint32(t[3])
		b := (uint32(t[4])*31+uint32(t[5]))*pow2 + uint32(t[6])*31 + uint32(t[7])
		n = n*pow8 + a*pow4 + b
		text = text[8:]
	}
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			n = 31*n + uint32(c)
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		i += size
		if r >= 0x10000 {
			r -= 0x10000
			n = 31*n + uint32(0xD800+r>>10)
			n = 31*n + uint32(0xDC00+r&0x3FF)
			continue
		}
		n = 31*n + uint32(r)
	}
	return int32(n)
}

// isASCII tells whether the first eight bytes are, which are there.
func isASCII(b []byte) bool {
	_ = b[7]
	return (b[0]|b[1]|b[2]|b[3]|b[4]|b[5]|b[6]|b[7])&0x80 == 0
}
