package redeliver

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
)

type (
	// Log is what a Copier needs of the store.
	Log interface {
		Queue(topic []byte, queueID int32) *store.ConsumeQueue
		Epoch() uint64
	}
	// Topics knows which topics exist.
	Topics interface {
		Get(name []byte) *topic.Config
	}
)

// Copier makes copies of pending records. It belongs to one goroutine.
type Copier struct {
	// Record is the copy that Make has made; it aliases what Make was given.
	Record message.Record

	log     Log
	topics  Topics
	pending string // topic of the records that copies are made from
	source  SourceText
	props   []byte
}

// NewCopier returns a Copier for the pending records of a topic.
func NewCopier(log Log, topics Topics, pendingTopic string) *Copier {
	return &Copier{log: log, topics: topics, pending: pendingTopic, source: NewSourceText(log.Epoch())}
}

// Make makes the copy of a pending record in c.Record and returns why it cannot be delivered, if
// so. DELAY, TIMER_*, REAL_TOPIC and REAL_QID stay on the copy, as on the real broker: consumers
// read them. commitLogOffset is where the record lies, or lay.
func (c *Copier) Make(v *message.View, commitLogOffset int64) (reason string) {
	props, realTopic, queueID, superseded := RealProperties(c.props[:0], v.Properties)
	source := c.source.Of(commitLogOffset)
	if s, ok := message.ParseSupersedes(superseded); ok {
		source = c.source.OfSuperseding(&s, commitLogOffset)
	}
	c.props = message.PropertyAppend(props, message.PropertySource, source)
	c.Record = v.RecordFor(c.pending, 0, c.props)
	n, err := strconv.ParseInt(string(queueID), 10, 32)
	if err != nil || n < 0 {
		return fmt.Sprintf("REAL_QID is %q", queueID)
	}
	c.Record.QueueID = int32(n)
	target := c.topics.Get(realTopic)
	if target == nil {
		c.Record.Topic = string(realTopic)
		// Deleting a topic deletes its queues: one that has them is only missing from the
		// table, as after the loss of topics.json, and gets its messages.
		if c.log.Queue(realTopic, c.Record.QueueID) != nil {
			return ""
		}
		return fmt.Sprintf("topic %q does not exist", realTopic)
	}
	c.Record.Topic = target.TopicName
	if target.TopicName == message.TopicTransHalf {
		return "a half message was delayed"
	}
	return ""
}

// RealProperties appends to dst the properties of a pending record without this server's own, and
// returns where it goes, and the text of what it supersedes, nil: nothing.
func RealProperties(dst, props []byte) (real, realTopic, queueID, superseded []byte) {
	kept := 0 // what is copied next begins here
	for at := 0; at < len(props); {
		next := message.PropertyBehind(props, at)
		// Most names are none of these, as their first byte tells.
		if first := props[at]; first == '_' || first == 'R' {
			name, end := message.PropertyBounds(props[at:next])
			value, own := props[at+min(name+1, end):at+end], false
			switch string(props[at : at+name]) {
			case message.PropertyDueMs, message.PropertySource:
				own = true
			case message.PropertySupersedes:
				own, superseded = true, value
			case message.PropertyRealTopic:
				realTopic = value
			case message.PropertyRealQueueID:
				queueID = value
			}
			if own {
				dst = append(dst, props[kept:at]...)
				kept = next
			}
		}
		at = next
	}
	return append(dst, props[kept:]...), realTopic, queueID, superseded
}

// Real is a pending record as it will be in its topic, with memory of its own; CommitLogOffset and
// StoreTimestamp are of where it waits.
func Real(v *message.View, commitLogOffset int64) (message.Record, error) {
	props, realTopic, queueID, _ := RealProperties(nil, v.Properties)
	id, err := strconv.ParseInt(string(queueID), 10, 32)
	if err != nil {
		return message.Record{}, fmt.Errorf("redeliver: pending message at %d: REAL_QID is %q", commitLogOffset, queueID)
	}
	rec := v.RecordFor(string(realTopic), int32(id), props)
	rec.Body, rec.StoreTimestamp, rec.CommitLogOffset = slices.Clone(v.Body), v.StoreTimestamp, commitLogOffset
	return rec, nil
}
