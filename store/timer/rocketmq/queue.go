package rocketmq

import (
	"fmt"
	"strconv"

	"github.com/wheelmq/wheelmq/message"
)

// eachInQueue visits what the queue before Resume says to pend: its TIMER_OUT_MS names a slot that
// was not read. A timer that was rolled lies in the queue several times, and the last one counts.
func (p *Pending) eachInQueue(visit func(Reference) error) error {
	rolls := make(map[string]int64) // times that a message was rolled, by topic and key
	err := p.eachRecord(func(_ Reference, props []byte) error {
		if n, key := rolled(props); n > 0 {
			rolls[key] = max(rolls[key], n)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return p.eachRecord(func(r Reference, props []byte) error {
		out, ok := message.TimerOutOf(props)
		if !ok || out < p.check.ReadMs {
			return nil
		}
		if n, key := rolled(props); n < rolls[key] {
			return nil
		}
		return visit(r)
	})
}

func (p *Pending) eachRecord(visit func(Reference, []byte) error) error {
	from, _ := p.src.TimerUnits()
	for at := from; at < p.resume; at++ {
		r, err := p.src.TimerUnit(at)
		if err != nil {
			return fmt.Errorf("rocketmq: unit %d of the timer queue: %w", at, err)
		}
		if err := p.src.Properties(r, func(props []byte) error { return visit(r, props) }); err != nil {
			return err
		}
	}
	return nil
}

// rolled is how many times a message was put into the wheel again because its instant was too far,
// and what makes its copies one.
func rolled(props []byte) (times int64, key string) {
	unique, ok := message.PropertyGet(props, message.PropertyUniqKey)
	if !ok {
		return 0, ""
	}
	topic, _ := message.PropertyGet(props, message.PropertyRealTopic)
	if _, cancel := message.PropertyGet(props, message.PropertyTimerDelUniqKey); cancel {
		key = "cancel "
	}
	if text, ok := message.PropertyGet(props, message.PropertyTimerRollTimes); ok {
		times, _ = strconv.ParseInt(string(text), 10, 64)
	}
	return times, key + string(topic) + " " + string(unique)
}
