package processor

import (
	"strconv"

	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/message"
)

const (
	messageTypeAttribute    = "message.type"
	priorityType            = "PRIORITY"
	priorityFactorAttribute = "priority.factor"
)

// byPriority tells whether a pop reads the queues of a topic with priorities in their order. The
// group's priority.factor is the percentage of pops that do, so that low ones do not starve.
func (t *popTarget) byPriority(dice int) bool {
	if t.order || t.topic.Attributes[messageTypeAttribute] != priorityType {
		return false
	}
	factor, err := strconv.Atoi(t.group.Attributes[priorityFactorAttribute])
	return err != nil || dice < factor
}

// readRetries takes from the retry topics that exist, the one first that is in use.
func (r *popRun) readRetries() {
	if r.p.settings.Load().RetryV2 {
		r.readRetry('2', '+')
		r.readRetry('1', '_')
		return
	}
	r.readRetry('1', '_')
	r.readRetry('2', '+')
}

func (r *popRun) readRetry(version, separator byte) {
	r.name = appendRetryTopic(r.name[:0], r.t.group.GroupName, separator, r.t.topic.TopicName)
	config := r.p.opts.Topics.Get(r.name)
	if config == nil || config.Perm&topic.PermRead == 0 {
		return
	}
	for queueID := range config.ReadQueueNums {
		r.look(r.name, config.TopicName, queueID, version)
	}
}

func appendRetryTopic(dst []byte, group string, separator byte, topicName string) []byte {
	dst = append(append(dst, message.PrefixRetry...), group...)
	return append(append(dst, separator), topicName...)
}

// disguise makes the messages of a retry topic, the parts from there on, ones of the topic that was
// popped, with their handles: clients work out only those of the topic itself.
func (r *popRun) disguise(cursor int64, parts int) {
	for i, part := range r.reply.Parts[parts:] {
		v, err := message.Parse(part)
		if err != nil {
			// The store has checked it; a client takes it as it is.
			r.p.opts.Log.WithError(err).WithField("topic", r.at.key.Topic).Error("a message of a retry topic cannot be read")
			continue
		}
		r.reply.Parts[parts+i] = r.original(&v, cursor)
	}
}

// original is a stored message of a retry topic with the topic and the handle that its consumer sees.
func (r *popRun) original(v *message.View, cursor int64) []byte {
	props := make([]byte, 0, len(v.Properties)+96)
	props = message.PropertyCopyWithout(props, v.Properties, func(name []byte) bool { return string(name) == message.PropertyPopCK })
	var handle [128]byte
	props = message.PropertyAppend(props, message.PropertyPopCK, r.appendHandle(handle[:0], cursor, v.QueueID, v.QueueOffset))
	rec := v.RecordFor(r.t.topic.TopicName, v.QueueID, props)
	rec.PreparedTransactionOffset = v.PreparedTransactionOffset
	b := make([]byte, message.EncodedLen(&rec))
	message.Encode(b, &rec)
	message.Patch(b, v.QueueOffset, v.CommitLogOffset, v.StoreTimestamp)
	return b
}

// appendHandle is the handle of a message: ckQueueOffset popTime invisibleTime reviveQid retryFlag
// brokerName queueId msgQueueOffset.
func (r *popRun) appendHandle(dst []byte, cursor int64, queueID int32, queueOffset int64) []byte {
	for _, n := range [...]int64{cursor, r.popTime, r.t.invisibleMs, int64(r.reviveQid)} {
		dst = append(strconv.AppendInt(dst, n, 10), ' ')
	}
	dst = append(append(dst, r.at.retry, ' '), r.p.opts.BrokerName...)
	dst = strconv.AppendInt(append(dst, ' '), int64(queueID), 10)
	return strconv.AppendInt(append(dst, ' '), queueOffset, 10)
}
