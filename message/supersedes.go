package message

import (
	"bytes"
	"strconv"
)

// Supersedes names, on a record of the timer queue, the pending message that the record removes, and
// the identity of the one that takes its place, as __WMQ_SUP writes it: the place, with a "w" before
// it when the wall's clock decides, and the identity, four decimal numbers with colons between:
// "w1800000000:4096:1024:2".
type Supersedes struct {
	Wall      bool  // the wall's clock decides when the removed one is due, not message time
	Second    int64 // in whose slot it is kept, since the Unix epoch
	LogOffset int64 // of its record, bytes
	// Root is the log offset of the first record of the message, and Generation how often it was
	// given another instant; 0: nothing takes its place.
	Root, Generation int64
}

// AppendTo appends the text of s.
func (s *Supersedes) AppendTo(dst []byte) []byte {
	if s.Wall {
		dst = append(dst, wallMark)
	}
	dst = strconv.AppendInt(dst, s.Second, 10)
	for _, n := range [...]int64{s.LogOffset, s.Root, s.Generation} {
		dst = strconv.AppendInt(append(dst, ':'), n, 10)
	}
	return dst
}

// ParseSupersedes reads the text of a Supersedes. No text, as of nearly every message, takes nothing.
func ParseSupersedes(text []byte) (s Supersedes, ok bool) {
	if len(text) == 0 {
		return Supersedes{}, false
	}
	if text[0] == wallMark {
		s.Wall, text = true, text[1:]
	}
	parts := bytes.Split(text, []byte(":"))
	numbers := [...]*int64{&s.Second, &s.LogOffset, &s.Root, &s.Generation}
	if len(parts) != len(numbers) {
		return Supersedes{}, false
	}
	for i, part := range parts {
		n, err := strconv.ParseInt(string(part), 10, 64)
		if err != nil || n < 0 {
			return Supersedes{}, false
		}
		*numbers[i] = n
	}
	return s, true
}

// SupersedesOf is what the properties of a record of the timer queue name. Few have any.
func SupersedesOf(props []byte) (Supersedes, bool) {
	text, ok := PropertyGet(props, PropertySupersedes)
	if !ok {
		return Supersedes{}, false
	}
	return ParseSupersedes(text)
}
