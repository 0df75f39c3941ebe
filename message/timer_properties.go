package message

// TimerProperties are the properties of a message that any-time delays are about; nil for those
// that it does not have.
type TimerProperties struct {
	DelaySec, DelayMs, DeliverMs, StartDeliverTime []byte // when it is to be delivered
	DelUniqKey                                     []byte // what it removes
	OutMs, DequeueMs                               []byte // a broker's notes
	RealTopic, DueMs, Supersedes                   []byte // of a pending record
}

// TimerPropertiesOf finds them in one walk, where PropertyGet would go over the properties once for
// each. They are slices of props; of duplicates the last counts.
func TimerPropertiesOf(props []byte) (t TimerProperties) {
	for len(props) > 0 {
		name, value, rest, valid := nextProperty(props)
		if valid && len(name) > 7 {
			if field := t.field(name); field != nil {
				*field = value
			}
		}
		props = rest
	}
	return t
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
