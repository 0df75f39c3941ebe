package broker

import (
	"slices"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker/topic"
)

// topicsFile is the file of the topic table.
const topicsFile = "topics.json"

// adoptTopics makes topics anew that have messages and that the table lacks, after one that could not be
// read: what was saved last before that may be lost. A table that could be read is right: a topic that is
// not in it was deleted. Permissions, order and attributes of such a topic are the defaults.
func (b *Broker) adoptTopics() {
	if !b.topics.Unread() && !b.backups.has(topicsFile) {
		return
	}
	for _, name := range b.store.QueueTopics() {
		queues := b.store.Queues(name)
		if b.topics.GetString(name) != nil || b.topics.CheckChange(name) != nil || len(queues) == 0 {
			continue
		}
		config := topic.Adopted(name, queues[len(queues)-1].QueueID()+1)
		log := b.opts.Log.WithFields(logrus.Fields{"topic": name, "queues": config.WriteQueueNums})
		if _, err := b.topics.Update(config); err != nil {
			log.WithError(err).Error("a topic that has messages is in no table that can be read, and cannot be made anew")
			continue
		}
		log.Warn("a topic that has messages is in no table that can be read: it is made anew, with the default permissions and attributes")
		b.backups.adopted(name)
	}
}

// has tells whether a table was read from its .bak.
func (b *backups) has(name string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Contains(b.names, name)
}

// adopted notes a topic that was made anew.
func (b *backups) adopted(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.topics = append(b.topics, name)
}
