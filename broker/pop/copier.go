package pop

import (
	"strconv"
	"strings"

	"github.com/wheelmq/wheelmq/broker/offset"
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

// defaultRetryMaxTimes is how often a group takes a message again that nobody has told about.
const defaultRetryMaxTimes = 16

// copier makes the copies of messages that were not acknowledged. It belongs to the driver.
type copier struct {
	s      *Service
	rec    message.Record
	props  []byte
	source []byte
	epoch  int // length of the part that all identities share
	names  map[names]string
}

// names is what the name of a retry topic is made from.
type names struct {
	group, topic string
	v2           bool
}

func (c *copier) init(s *Service) {
	c.s, c.names = s, make(map[names]string)
	c.source = append(strconv.AppendUint(nil, s.opts.Log.Epoch(), 16), ':')
	c.epoch = len(c.source)
}

// make returns the copy of a message; it is valid until the next one.
func (c *copier) make(r *revival, v *message.View) (*message.Record, error) {
	c.properties(r, v)
	c.rec = v.RecordFor("", 0, c.props)
	c.rec.BornHost, c.rec.StoreHost = c.s.opts.StoreHost, c.s.opts.StoreHost // as the real broker's
	again := r.state&suspended != 0
	if !again {
		c.rec.ReconsumeTimes++
	}
	c.rec.Topic = c.target(r.w.key, v.ReconsumeTimes, again)
	config := c.s.opts.Topics.CreateRetry(c.rec.Topic, 1, topic.PermRead|topic.PermWrite)
	if config == nil {
		return nil, remoting.Errorf(remoting.SystemError, "topic[%s] not exist", c.rec.Topic)
	}
	c.begin(r.w)
	return &c.rec, nil
}

// begin has a group take what comes into its retry topic from the beginning on.
func (c *copier) begin(w *Window) {
	if o := c.s.opts.Offsets; strings.HasPrefix(c.rec.Topic, message.PrefixRetry) && o.Query(w.group, []byte(c.rec.Topic), 0) == offset.None {
		o.Commit(w.group, []byte(c.rec.Topic), 0, 0)
	}
}

// properties are those of the message, and what tells its next consumers about its first pop.
func (c *copier) properties(r *revival, v *message.View) {
	first := v.ReconsumeTimes == 0
	_, popped := message.PropertyGet(v.Properties, message.PropertyFirstPopTime)
	_, retried := message.PropertyGet(v.Properties, message.PropertyRetryTopic)
	first = first || !popped
	c.props = message.PropertyCopyWithout(c.props[:0], v.Properties, func(name []byte) bool {
		switch string(name) {
		case message.PropertyFirstPopTime:
			return first
		case message.PropertyOriginGroup, message.PropertySource, message.PropertyDueMs, message.PropertySupersedes:
			return true
		}
		return false
	})
	if !retried {
		c.props = message.PropertyAppend(c.props, message.PropertyRetryTopic, v.Topic)
	}
	if first {
		c.props = message.PropertyAppend(c.props, message.PropertyFirstPopTime, strconv.FormatInt(r.popTime, 10))
	}
	c.props = message.PropertyAppend(c.props, message.PropertyOriginGroup, r.w.group)
	c.props = message.PropertyAppend(c.props, message.PropertySource, c.identity(v.CommitLogOffset, r.popTime))
}

// identity is that of the copy of a record, by which it is recognised after a kill; it is valid until
// the next one.
func (c *copier) identity(commitLogOffset, popTime int64) []byte {
	c.source = append(strconv.AppendInt(c.source[:c.epoch], commitLogOffset, 10), ':')
	c.source = strconv.AppendInt(c.source, popTime, 10)
	return c.source
}

// target is where a message goes that was handed out so often before.
func (c *copier) target(k Key, reconsumed int32, again bool) string {
	most := int32(defaultRetryMaxTimes)
	if group := c.s.opts.Groups.Find([]byte(k.Group)); group != nil {
		most = group.RetryMaxTimes
	}
	if reconsumed >= most && !again && c.s.deadLetters() {
		return message.PrefixDLQ + k.Group
	}
	if strings.HasPrefix(k.Topic, message.PrefixRetry) {
		return k.Topic
	}
	key := names{k.Group, k.Topic, c.s.settings.Load().RetryV2}
	name, ok := c.names[key]
	if !ok {
		name = RetryTopic(k.Group, k.Topic, key.v2)
		c.names[key] = name
	}
	return name
}

// RetryTopic is where the messages of a topic go that a group did not acknowledge: version 2 of its
// name is that of enableRetryTopicV2.
func RetryTopic(group, topic string, v2 bool) string {
	if v2 {
		return message.PrefixRetry + group + "+" + topic
	}
	return message.PrefixRetry + group + "_" + topic
}
