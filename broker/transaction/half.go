package transaction

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/wheelmq/wheelmq/message"
)

// half is what a half message says of its transaction. It aliases the record.
type half struct {
	v           *message.View
	realTopic   []byte
	realQueueID int32
	group       []byte // of producers
	uniqKey     []byte
	// immunityMs is for how long the producer wants not to be asked; negative: it does not say.
	immunityMs int64
	// checked is how often the real broker asked the producer before it stored this record.
	checked int
	// renewed: the real broker stored it in place of an earlier one.
	renewed bool
}

var errNoHalf = errors.New("transaction: it is no half message")

// readHalf reads a record of the half topic.
func readHalf(v *message.View) (h half, err error) {
	h = half{v: v, immunityMs: -1, realQueueID: -1}
	if string(v.Topic) != message.TopicTransHalf || v.QueueID != 0 {
		return h, errNoHalf
	}
	var queueID []byte
	message.PropertyEach(v.Properties, func(name, value []byte) {
		switch string(name) {
		case message.PropertyRealTopic:
			h.realTopic = value
		case message.PropertyRealQueueID:
			queueID = value
		case message.PropertyProducerGroup:
			h.group = value
		case message.PropertyUniqKey:
			h.uniqKey = value
		case message.PropertyCheckImmunity:
			h.immunityMs = immunity(value)
		case message.PropertyCheckTimes:
			n, _ := strconv.ParseUint(string(value), 10, 16)
			h.checked = int(n)
			h.renewed = h.renewed || n > 0
		case message.PropertyPreparedQueueOffset:
			h.renewed = true
		}
	})
	n, err := strconv.ParseInt(string(queueID), 10, 32)
	if err != nil || n < 0 || len(h.realTopic) == 0 {
		return h, fmt.Errorf("%w: REAL_TOPIC is %q, REAL_QID %q", errNoHalf, h.realTopic, queueID)
	}
	h.realQueueID = int32(n)
	return h, nil
}

// maxImmunity bounds what a producer may ask for, seconds: more than messages are ever kept.
const maxImmunity = 1 << 31

// immunity reads CHECK_IMMUNITY_TIME_IN_SECONDS, ms; negative for what is no time.
func immunity(value []byte) int64 {
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil || n < 0 {
		return -1
	}
	return max(1, min(n, maxImmunity)) * 1000
}

// isCheckTimes names the property that says how often a producer was asked.
func isCheckTimes(name []byte) bool { return string(name) == message.PropertyCheckTimes }

// since is the instant, ms of message time, from which on a half message waits. A record that the
// real broker stored in place of an earlier one waits since that was born.
func (h *half) since() int64 {
	if h.renewed {
		return min(h.v.BornTimestamp, h.v.StoreTimestamp)
	}
	return h.v.StoreTimestamp
}

// due is when the producer is asked for the first time, or next when it was asked before, ms of
// message time.
func (h *half) due(t *Times, asked int) int64 {
	first := h.since() + t.TimeoutMs
	switch {
	case h.checked > 0:
		first = h.v.StoreTimestamp + t.IntervalMs
	case h.immunityMs >= 0:
		first = h.since() + h.immunityMs
	}
	return min(first+int64(asked)*t.IntervalMs, h.expires(t))
}

// expires is when it is given up whatever its producer does, ms of message time.
func (h *half) expires(t *Times) int64 { return h.since() + t.ReservedMs }

// late tells whether a producer that was not asked comes too late: it said for how long it wants to
// decide by itself.
func (h *half) late(t *Times, now int64) bool {
	return h.immunityMs >= 0 && now-h.since() > max(h.immunityMs, t.TimeoutMs)
}
