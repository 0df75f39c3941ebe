package message

import (
	"bytes"
	"strconv"
)

// Pending is what a message has to carry while it waits for an instant.
type Pending struct {
	Due Due
	// DeliverMs is Due.Ms as decimal digits, TIMER_DELIVER_MS.
	DeliverMs []byte
	OutMs     int64  // TIMER_OUT_MS
	Topic     string // REAL_TOPIC
	QueueID   int32  // REAL_QID
}

// What stands before the values of a pending message's properties.
const (
	pendingDue     = PropertyDueMs + "\x01"
	pendingTopic   = "\x02" + PropertyRealTopic + "\x01"
	pendingQueue   = "\x02" + PropertyRealQueueID + "\x01"
	pendingOut     = "\x02" + PropertyTimerOutMs + "\x01"
	pendingDeliver = "\x02" + PropertyTimerDeliverMs + "\x01"
)

// AppendFirst appends its properties as the first ones of a message that removes no other: with
// __WMQ_DUE at the very beginning and REAL_TOPIC behind it, from which PendingFirst knows that it need
// look no further.
func (p *Pending) AppendFirst(dst []byte) []byte {
	dst = append(dst, pendingDue...)
	if p.Due.Wall {
		dst = append(dst, wallMark)
	}
	dst = append(append(dst, p.DeliverMs...), pendingTopic...)
	dst = append(append(dst, p.Topic...), pendingQueue...)
	dst = append(strconv.AppendInt(dst, int64(p.QueueID), 10), pendingOut...)
	dst = append(strconv.AppendInt(dst, p.OutMs, 10), pendingDeliver...)
	return append(append(dst, p.DeliverMs...), valueEnd)
}

// AppendLast appends its properties behind others, among them perhaps the one by which it removes
// another message.
func (p *Pending) AppendLast(dst []byte) []byte {
	var digits [24]byte
	dst = PropertyAppend(dst, PropertyTimerDeliverMs, p.DeliverMs)
	dst = PropertyAppend(dst, PropertyTimerOutMs, strconv.AppendInt(digits[:0], p.OutMs, 10))
	dst = PropertyAppend(dst, PropertyRealTopic, p.Topic)
	dst = PropertyAppend(dst, PropertyRealQueueID, strconv.AppendInt(digits[:0], int64(p.QueueID), 10))
	return PropertyAppend(dst, PropertyDueMs, p.Due.AppendTo(digits[:0]))
}

// PendingFirst reads the properties of a message that removes no other, when they are its first.
func PendingFirst(props []byte) (due Due, realTopic []byte, ok bool) {
	text, rest, ok := pendingValue(props, pendingDue)
	if !ok {
		return Due{}, nil, false
	}
	if realTopic, _, ok = pendingValue(rest, pendingTopic); !ok || len(realTopic) == 0 {
		return Due{}, nil, false
	}
	due, ok = ParseDue(text)
	return due, realTopic, ok
}

// pendingValue is the value behind a begin, and what follows from its end on.
func pendingValue(props []byte, begin string) (value, rest []byte, ok bool) {
	if len(props) < len(begin) || string(props[:len(begin)]) != begin {
		return nil, nil, false
	}
	props = props[len(begin):]
	end := bytes.IndexByte(props, valueEnd)
	if end < 0 {
		return nil, nil, false
	}
	return props[:end], props[end:], true
}

// AppendOthers appends props, whose timer properties t has, to dst without those that IsPending names,
// closed by 0x02.
func (t *TimerProperties) AppendOthers(dst, props []byte) []byte {
	switch t.replaced {
	case 0:
		dst = append(dst, props...)
	case 1: // as in nearly all messages: no second walk is needed
		dst = append(append(dst, props[:t.from]...), props[t.to:]...)
	default:
		return PropertyCopyWithout(dst, props, IsPending)
	}
	if len(dst) > 0 && dst[len(dst)-1] != valueEnd {
		dst = append(dst, valueEnd)
	}
	return dst
}

// IsPending names the properties that a pending message has anew or that are the timer's to say:
// TIMER_DELAY_*, TIMER_DELIVER_MS, TIMER_OUT_MS, those of the real broker's wheel, REAL_TOPIC, REAL_QID
// and __WMQ_DUE.
func IsPending(name []byte) bool {
	switch string(name) {
	case PropertyTimerDelaySec, PropertyTimerDelayMs, PropertyTimerDeliverMs, PropertyTimerOutMs, PropertyTimerEnqueueMs,
		PropertyTimerDequeueMs, PropertyTimerRollTimes, PropertyTimerRollLabel, PropertyRealTopic, PropertyRealQueueID, PropertyDueMs:
		return true
	}
	return false
}
