package message

import "bytes"

// TimerProperties are the properties of a message that any-time delays are about; nil for those
// that it does not have.
type TimerProperties struct {
	DelaySec, DelayMs, DeliverMs, StartDeliverTime []byte // when it is to be delivered
	DelUniqKey                                     []byte // what it removes
	OutMs, DequeueMs                               []byte // a broker's notes
	RealTopic, DueMs, Supersedes                   []byte // of a pending record

	// replaced is how many of the properties a pending message has anew, see IsPending, and the last one
	// of them lies at from to to.
	replaced, from, to int
}

// shortestTimerName is the length of the shortest name that TimerPropertiesOf looks for, bytes.
const shortestTimerName = len(PropertyRealQueueID)

// TimerPropertiesOf finds them in one walk, where PropertyGet would go over the properties once for
// each. They are slices of props; of duplicates the last counts.
func TimerPropertiesOf(props []byte) (t TimerProperties) {
	for at := 0; at < len(props); {
		next := PropertyBehind(props, at)
		if next-at > shortestTimerName && timerBegin(props[at], props[at+1]) {
			if t.take(props[at:next]) {
				t.replaced, t.from, t.to = t.replaced+1, at, next
			}
		}
		at = next
	}
	return t
}

// timerBegin tells whether a name that begins so may be one of them: most need no closer look, also those
// that every message has, TRACE_ON and TAGS.
func timerBegin(first, second byte) bool {
	switch first {
	case 'T':
		return second == 'I'
	case 'R':
		return second == 'E'
	}
	return first == '_' && second == '_'
}

// take keeps the value of an entry, which may end with 0x02, and tells whether a pending message has the
// property anew.
func (t *TimerProperties) take(entry []byte) (replaced bool) {
	if last := len(entry) - 1; entry[last] == valueEnd {
		entry = entry[:last]
	}
	name := bytes.IndexByte(entry, nameEnd)
	if name <= 0 {
		return false
	}
	if field := t.field(entry[:name]); field != nil && name < len(entry)-1 {
		*field = entry[name+1:]
	}
	return IsPending(entry[:name])
}

// field is where a property's value goes, nil for those that have no place.
func (t *TimerProperties) field(name []byte) *[]byte {
	switch name[0] {
	case 'T':
		return t.timerField(name)
	case 'R':
		if string(name) == PropertyRealTopic {
			return &t.RealTopic
		}
	case '_':
		switch string(name) {
		case PropertyDueMs:
			return &t.DueMs
		case PropertySupersedes:
			return &t.Supersedes
		case PropertyStartDeliverTime:
			return &t.StartDeliverTime
		}
	}
	return nil
}

func (t *TimerProperties) timerField(name []byte) *[]byte {
	switch string(name) {
	case PropertyTimerDeliverMs:
		return &t.DeliverMs
	case PropertyTimerDelaySec:
		return &t.DelaySec
	case PropertyTimerDelayMs:
		return &t.DelayMs
	case PropertyTimerOutMs:
		return &t.OutMs
	case PropertyTimerDelUniqKey:
		return &t.DelUniqKey
	case PropertyTimerDequeueMs:
		return &t.DequeueMs
	}
	return nil
}
