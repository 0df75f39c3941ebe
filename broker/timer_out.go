package broker

import "github.com/wheelmq/wheelmq/message"

// timerOut is the TIMER_OUT_MS of the pending message with a topic and a UNIQ_KEY. It looks at all
// that pend: tests have few.
func (b *Broker) timerOut(topicName string, uniqKey []byte) (outMs int64, ok bool) {
	for p := range b.timer.Pending() {
		rec, err := b.timer.Read(p)
		if err != nil || rec.Topic != topicName {
			continue
		}
		if key, _ := message.PropertyGet(rec.Properties, message.PropertyUniqKey); string(key) == string(uniqKey) {
			return message.TimerOutOf(rec.Properties)
		}
	}
	return 0, false
}
