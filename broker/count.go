package broker

import (
	"github.com/wheelmq/wheelmq/broker/stats"
	"github.com/wheelmq/wheelmq/message"
)

// levelGroup is the group that the real broker's statistics name for what leaves SCHEDULE_TOPIC_XXXX.
const levelGroup = "SCHEDULE_CONSUMER"

// countLevel counts a delayed message that was delivered: put into its topic, and got from its level.
func (b *Broker) countLevel(topicName string, queueID int32, size int64) {
	b.countIn(topicName, 1, size)
	b.stats.GroupCounters([]byte(levelGroup), []byte(message.TopicSchedule)).Delivered(queueID, size)
}

// countTimers counts any-time messages that were delivered to a topic.
func (b *Broker) countTimers(topicName string, n, size int64) {
	b.countIn(topicName, n, size)
}

// countIn counts delayed messages in their topic. Several are taken for messages of one size.
func (b *Broker) countIn(topicName string, n, size int64) {
	in := b.stats.TopicCounters([]byte(topicName))
	in.PutOK(n, size)
	in.InMany(stats.Delay, n, size/max(1, n))
}
