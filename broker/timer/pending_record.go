package timer

import (
	"bytes"
	"math"
	"strconv"

	"github.com/wheelmq/wheelmq/message"
)

// pendingRecord is what a record of the timer queue asks for.
type pendingRecord struct {
	due       message.Due
	realTopic []byte
	cancels   []byte // the key that it removes, without its topic; nil: it is a message
	out       int64  // TIMER_OUT_MS of what it removes
	// supersedes names the one message that it removes; nil: it is not such a record.
	supersedes *message.Supersedes
}

// readPending finds out what a record asks for; reason is why nobody can know.
func readPending(v *message.View, precisionMs int64) (p pendingRecord, reason string) {
	var ok bool
	if p.due, p.realTopic, ok = message.PendingFirst(v.Properties); ok {
		return p, ""
	}
	props := message.TimerPropertiesOf(v.Properties)
	if props.RealTopic == nil {
		return p, "it names no topic"
	}
	p.realTopic = props.RealTopic
	if p.due, ok = message.ParseDue(props.DueMs); !ok {
		if p.due, ok = peerDue(v, precisionMs); !ok {
			return p, "it names no instant"
		}
	}
	if sup, ok := message.ParseSupersedes(props.Supersedes); ok {
		p.supersedes = &sup
	} else if props.DelUniqKey != nil {
		p.cancels = plainKey(p.realTopic, props.DelUniqKey)
		if p.out, ok = message.TimerOutOf(v.Properties); !ok {
			p.out = message.TimerOut(p.due.Ms, precisionMs)
		}
	}
	return p, ""
}

// peerDue is the instant of a record that the real broker made: its TIMER_DELIVER_MS, or the relative
// delay from when it was stored, which is a moment after it was counted, at most the end of its slot.
func peerDue(v *message.View, precisionMs int64) (message.Due, bool) {
	out, ok := message.TimerOutOf(v.Properties)
	if !ok {
		return message.Due{}, false
	}
	due := message.Due{Ms: out + precisionMs, Wall: true}
	for _, asked := range []struct {
		name       string
		from, unit int64
	}{
		{message.PropertyTimerDelaySec, v.StoreTimestamp, 1000}, {message.PropertyTimerDelayMs, v.StoreTimestamp, 1},
		{message.PropertyTimerDeliverMs, 0, 1},
	} {
		text, ok := message.PropertyGet(v.Properties, asked.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(string(text), 10, 64)
		if at := asked.from + n*asked.unit; err == nil && n < math.MaxInt64/2000 && at > out && at < due.Ms {
			due.Ms = at
		}
		break
	}
	return due, true
}

// plainKey is the UNIQ_KEY that a cancel names: some put the topic and a plus before it.
func plainKey(realTopic, key []byte) []byte {
	if rest, ok := bytes.CutPrefix(key, realTopic); ok && len(rest) > 0 && rest[0] == '+' {
		return rest[1:]
	}
	return key
}

// slotOf is the second in whose slot a message is kept: the one that its TIMER_OUT_MS lies in, so
// that a recall finds it.
func slotOf(dueMs int64) int64 { return (dueMs - 1) / 1000 }
