package message

import "strconv"

// Due is the instant at which a pending record is delivered, as __WMQ_DUE writes it: a decimal
// number of ms since the Unix epoch in message time, with a "w" before it in the wall's. What was
// sent with a delay is due in message time, which a step of the wall does not move; what was sent
// with an instant of its own is due when the wall reads it.
type Due struct {
	Ms   int64 // since the Unix epoch
	Wall bool  // of the wall's clock, not of message time
}

const wallMark = 'w'

// AppendTo appends the text of d.
func (d Due) AppendTo(dst []byte) []byte {
	if d.Wall {
		dst = append(dst, wallMark)
	}
	return strconv.AppendInt(dst, d.Ms, 10)
}

// ParseDue reads the text of a Due.
func ParseDue(text []byte) (d Due, ok bool) {
	if len(text) > 0 && text[0] == wallMark {
		d.Wall, text = true, text[1:]
	}
	ms, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return Due{}, false
	}
	d.Ms = ms
	return d, true
}

// DueOf is the instant that a record's properties carry. Records of the real broker carry none.
func DueOf(props []byte) (Due, bool) {
	text, ok := PropertyGet(props, PropertyDueMs)
	if !ok {
		return Due{}, false
	}
	return ParseDue(text)
}

// TimerOut is the TIMER_OUT_MS of a message due at an instant: rounded down to precisionMs, a
// multiple of which counts to the step that ends with it. A message lies in, and is recalled from,
// the second of its TIMER_OUT_MS, which ends at or before its due instant.
func TimerOut(dueMs, precisionMs int64) int64 { return (dueMs - 1) / precisionMs * precisionMs }

// TimerOutOf is the TIMER_OUT_MS that a record's properties carry.
func TimerOutOf(props []byte) (ms int64, ok bool) {
	text, ok := PropertyGet(props, PropertyTimerOutMs)
	if !ok {
		return 0, false
	}
	ms, err := strconv.ParseInt(string(text), 10, 64)
	return ms, err == nil
}
