package message

import "unicode/utf8"

// TagsHash is Java's String.hashCode of UTF-8 text: over UTF-16 units, 32 bits, sign
// extended. It is the tagsCode of a queue unit; no tags give 0.
func TagsHash(tags []byte) int64 {
	var h int32
	for i := 0; i < len(tags); {
		if c := tags[i]; c < utf8.RuneSelf {
			h = 31*h + int32(c)
			i++
			continue
		}
		r, n := utf8.DecodeRune(tags[i:])
		i += n
		if r >= 0x10000 {
			r -= 0x10000
			h = 31*h + (0xD800 + r>>10)
			h = 31*h + (0xDC00 + r&0x3FF)
			continue
		}
		h = 31*h + r
	}
	return int64(h)
}
