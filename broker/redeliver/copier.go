package redeliver

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/difference"
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

	differences *difference.Set
}

// NewCopier returns a Copier for the pending records of a topic.
func NewCopier(log Log, topics Topics, pendingTopic string, differences *difference.Set) *Copier {
	return &Copier{log: log, topics: topics, pending: pendingTopic, source: NewSourceText(log.Epoch()), differences: differences}
}

// Make makes the copy of a pending record in c.Record and returns why it cannot be delivered, if
// so. DELAY, TIMER_*, REAL_TOPIC and REAL_QID stay on the copy, as on the real broker: consumers
// read them. commitLogOffset is where the record lies, or lay.
func (c *Copier) Make(v *message.View, commitLogOffset int64) (reason string) {
	real := RealProperties(c.props[:0], v.Properties)
	source := c.source.Of(commitLogOffset)
	if s, ok := message.ParseSupersedes(real.Superseded); ok {
		source = c.source.OfSuperseding(&s, commitLogOffset)
	}
	c.props = message.PropertyAppend(real.Properties, message.PropertySource, source)
	c.Record = v.RecordFor(c.pending, 0, c.props)
	n, err := strconv.ParseInt(string(real.QueueID), 10, 32)
	if err != nil || n < 0 {
		return fmt.Sprintf("REAL_QID is %q", real.QueueID)
	}
	c.Record.QueueID = int32(n)
	c.Record.TagsKnown, c.Record.TagsCode = string(real.Topic) != message.TopicSchedule, message.TagsHash(real.Tags)
	target := c.topics.Get(real.Topic)
	if target == nil {
		c.Record.Topic = string(real.Topic)
		// Deleting a topic deletes its queues: one that has them is only missing from the
		// table, as after the loss of topics.json, and gets its messages.
		if c.log.Queue(real.Topic, c.Record.QueueID) != nil {
			return ""
		}
		return fmt.Sprintf("topic %q does not exist", real.Topic)
	}
	c.Record.Topic = target.TopicName
	if queue := topic.QueueFor(target, c.Record.QueueID); queue != c.Record.QueueID {
		c.differences.Use(difference.QueuesThatAre)
		c.Record.QueueID = queue
	}
	if target.TopicName == message.TopicTransHalf {
		return "a half message was delayed"
	}
	return ""
}

// RealParts are what the properties of a pending record say; all but Properties alias them.
type RealParts struct {
	Properties     []byte // without this server's own
	Topic, QueueID []byte // where it goes
	Superseded     []byte // the text of what it supersedes; nil: nothing
	Tags           []byte // as message.PropertyGet finds them; nil: none
}

var tagsName = []byte(message.PropertyTags + "\x01")

// RealProperties looks at the properties of a pending record once, and appends to dst those that are not
// this server's own.
func RealProperties(dst, props []byte) (real RealParts) {
	kept := 0 // what is copied next begins here
	for at := 0; at < len(props); {
		next := message.PropertyBehind(props, at)
		// Most names are none of these, as their first bytes tell.
		switch first := props[at]; {
		case first == '_' || first == 'R':
			if real.note(props[at:next]) {
				dst = append(dst, props[kept:at]...)
				kept = next
			}
		case first == tagsName[0] && bytes.HasPrefix(props[at:next], tagsName):
			if tags := bytes.TrimSuffix(props[at+len(tagsName):next], []byte{2}); len(tags) > 0 {
				real.Tags = tags
			}
		}
		at = next
	}
	real.Properties = append(dst, props[kept:]...)
	return real
}

// note takes in an entry, and tells whether it is this server's own.
func (p *RealParts) note(entry []byte) (own bool) {
	name, end := message.PropertyBounds(entry)
	value := entry[min(name+1, end):end]
	switch string(entry[:name]) {
	case message.PropertyDueMs, message.PropertySource:
		return true
	case message.PropertySupersedes:
		p.Superseded = value
		return true
	case message.PropertyRealTopic:
		p.Topic = value
	case message.PropertyRealQueueID:
		p.QueueID = value
	}
	return false
}

// Real is a pending record as it will be in its topic, with memory of its own; CommitLogOffset and
// StoreTimestamp are of where it waits.
func Real(v *message.View, commitLogOffset int64) (message.Record, error) {
	real := RealProperties(nil, v.Properties)
	id, err := strconv.ParseInt(string(real.QueueID), 10, 32)
	if err != nil {
		return message.Record{}, fmt.Errorf("redeliver: pending message at %d: REAL_QID is %q", commitLogOffset, real.QueueID)
	}
	rec := v.RecordFor(string(real.Topic), int32(id), real.Properties)
	rec.Body, rec.StoreTimestamp, rec.CommitLogOffset = slices.Clone(v.Body), v.StoreTimestamp, commitLogOffset
	return rec, nil
}
