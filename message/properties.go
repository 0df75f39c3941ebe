package message

import "bytes"

// Separators of the properties encoding: name 0x01 value 0x02 …; the last 0x02 may lack.
const (
	nameEnd  = 0x01
	valueEnd = 0x02
)

// nextProperty cuts the first entry off props. Entries that the real broker's reader skips
// (no name, no value, no separator) come with ok false.
func nextProperty(props []byte) (name, value, rest []byte, ok bool) {
	entry := props
	if end := bytes.IndexByte(props, valueEnd); end >= 0 {
		entry, rest = props[:end], props[end+1:]
	}
	at := bytes.IndexByte(entry, nameEnd)
	if at <= 0 || at == len(entry)-1 {
		return nil, nil, rest, false
	}
	return entry[:at], entry[at+1:], rest, true
}

// PropertyGet returns the value of a property; of duplicates the last wins. A value may
// hold 0x01, never 0x02, and is never empty.
func PropertyGet(props []byte, key string) (value []byte, ok bool) {
	for len(props) > 0 {
		name, v, rest, valid := nextProperty(props)
		if valid && string(name) == key {
			value, ok = v, true
		}
		props = rest
	}
	return value, ok
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
	for len(props) > 0 {
		name, value, rest, valid := nextProperty(props)
		if valid && !drop(name) {
			dst = append(dst, name...)
			dst = append(dst, nameEnd)
			dst = append(dst, value...)
			dst = append(dst, valueEnd)
		}
		props = rest
	}
	return dst
}

// HasTimer tells whether properties ask for an any-time delay.
func HasTimer(props []byte) bool {
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
