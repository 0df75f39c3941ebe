package message

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// Separators of the properties encoding: name 0x01 value 0x02 …; the last 0x02 may lack.
const (
	nameEnd  = 0x01
	valueEnd = 0x02
)

// PropertyBounds looks at the first entry of props: its name is props[:name], its value
// props[name+1:end], and the next entry begins behind end. An entry that the real broker's
// reader skips (no name, no value, no separator) has name 0.
func PropertyBounds(props []byte) (name, end int) {
	separated := false
	for end < len(props) {
		if len(props)-end >= 8 {
			found := belowThree(binary.LittleEndian.Uint64(props[end:]))
			if found == 0 {
				end += 8
				continue
			}
			end += bits.TrailingZeros64(found) / 8
		}
		if c := props[end]; c == valueEnd {
			break
		} else if c == nameEnd && !separated {
			separated, name = true, end
		}
		end++
	}
	if name == end-1 {
		name = 0
	}
	return name, end
}

// belowThree marks, by their highest bits, the bytes of w that are less than three; above the
// lowest mark others may be wrong.
func belowThree(w uint64) uint64 {
	return (w - 0x0303030303030303) &^ w & 0x8080808080808080
}

// PropertyRest is what follows the entry that ends at end.
func PropertyRest(props []byte, end int) []byte {
	return props[min(end+1, len(props)):]
}

// PropertyBehind is where the entry behind the one at an index begins. It looks for the end only, which
// is faster than PropertyBounds.
func PropertyBehind(props []byte, at int) int {
	if end := bytes.IndexByte(props[at:], valueEnd); end >= 0 {
		return at + end + 1
	}
	return len(props)
}

func nextProperty(props []byte) (name, value, rest []byte, ok bool) {
	at, end := PropertyBounds(props)
	if at == 0 {
		return nil, nil, PropertyRest(props, end), false
	}
	return props[:at], props[at+1 : end], PropertyRest(props, end), true
}

// PropertyGet returns the value of a property; of duplicates the last wins. A value may
// hold 0x01, never 0x02, and is never empty. The key holds neither.
func PropertyGet(props []byte, key string) (value []byte, ok bool) {
	// Looking for the name beats walking over the entries: most look-ups find nothing.
	for from := 0; key != ""; {
		at := indexString(props[from:], key)
		if at < 0 {
			break
		}
		at += from
		from = at + len(key)
		if from >= len(props) || props[from] != nameEnd || at > 0 && props[at-1] != valueEnd {
			continue
		}
		found := props[from+1:]
		if end := bytes.IndexByte(found, valueEnd); end >= 0 {
			found = found[:end]
		}
		if len(found) > 0 {
			value, ok = found, true
		}
	}
	return value, ok
}

// indexString is where the first key in b begins, or -1.
func indexString(b []byte, key string) int {
	// The conversion does not outlive the call and is kept on the stack.
	return bytes.Index(b, []byte(key))
}

// PropertyEach calls visit for every property in order.
func PropertyEach(props []byte, visit func(name, value []byte)) {
	for len(props) > 0 {
		name, value, rest, valid := nextProperty(props)
		if valid {
			visit(name, value)
		}
		props = rest
	}
}

// PropertyAppend appends a property to dst, closing an entry that dst left open.
func PropertyAppend[V string | []byte](dst []byte, key string, value V) []byte {
	if len(dst) > 0 && dst[len(dst)-1] != valueEnd {
		dst = append(dst, valueEnd)
	}
	dst = append(dst, key...)
	dst = append(dst, nameEnd)
	dst = append(dst, value...)
	return append(dst, valueEnd)
}

// PropertyCopyWithout appends to dst every property of props but those named by drop, in
// order, each closed by 0x02. Entries that no reader would see are left out.
func PropertyCopyWithout(dst, props []byte, drop func(name []byte) bool) []byte {
	kept := 0 // where what is copied next begins
	for at := 0; at < len(props); {
		name, end := PropertyBounds(props[at:])
		next := min(at+end+1, len(props))
		if name == 0 || drop(props[at:at+name]) {
			dst = append(dst, props[kept:at]...)
			kept = next
		}
		at = next
	}
	if kept == len(props) {
		return dst
	}
	dst = append(dst, props[kept:]...)
	if dst[len(dst)-1] != valueEnd {
		dst = append(dst, valueEnd)
	}
	return dst
}

// timerPrefix begins every name that HasTimer looks for.
var timerPrefix = []byte("TIMER_DEL")

// MayHaveTimer is a quick look: without it HasTimer is false.
func MayHaveTimer(props []byte) bool { return bytes.Contains(props, timerPrefix) }

// HasTimer tells whether properties ask for an any-time delay.
func HasTimer(props []byte) bool {
	if !MayHaveTimer(props) {
		return false
	}
	for len(props) > 0 {
		name, _, rest, valid := nextProperty(props)
		if valid {
			switch string(name) {
			case PropertyTimerDelaySec, PropertyTimerDelayMs, PropertyTimerDeliverMs:
				return true
			}
		}
		props = rest
	}
	return false
}
