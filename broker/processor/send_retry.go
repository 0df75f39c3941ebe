package processor

import (
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

// retry sends a retry that has had its tries, or one of a group that consumes in order, to the
// group's dead letters. An orderly consumer sends its retries itself, when it gives up.
func (s *Send) retry(st *sendState, groupName []byte) error {
	group := s.opts.Groups.Find(groupName)
	if group == nil {
		return remoting.Errorf(remoting.SubscriptionGroupNotExist, "subscription group not exist, %s%s", groupName, faq)
	}
	maxTimes := group.RetryMaxTimes
	if st.header.MaxReconsumeTimes >= 0 {
		maxTimes = st.header.MaxReconsumeTimes
	}
	if st.header.ReconsumeTimes <= maxTimes && !s.opts.Locks.AnyHeld(group.GroupName) {
		return nil
	}
	return toDeadLetters(&st.rec, s.opts.Topics, group.GroupName)
}

// toDeadLetters addresses a record to a group's dead-letter topic, without a delay.
func toDeadLetters(rec *message.Record, topics topicCreator, group string) error {
	name := message.PrefixDLQ + group
	config := topics.CreateRetry(name, 1, topic.PermRead|topic.PermWrite)
	if config == nil {
		return remoting.Errorf(remoting.SystemError, "topic[%s] not exist", name)
	}
	props := message.PropertyCopyWithout(nil, rec.Properties, func(name []byte) bool {
		return string(name) == message.PropertyDelay
	})
	rec.Properties = message.PropertyAppend(props, message.PropertyDelay, "0")
	rec.Topic, rec.QueueID = config.TopicName, 0
	return nil
}
