package topic

import (
	"bytes"
	"maps"
	"slices"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

// SystemRule says what clients may do with a system topic. The zero value is the rule of an
// ordinary topic.
type SystemRule struct {
	System bool
	NoSend bool // sends are answered with code 16
	// NoPull topics hold what is not visible yet: pulls are answered with code 16, except
	// those of the tools' group.
	NoPull bool
}

// Topics that the real broker has and this one only reserves, so that tools find what they
// expect.
const (
	topicRocksTransHalf   = "RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC"
	topicRocksTransOpHalf = "RMQ_SYS_ROCKSDB_TRANS_OP_HALF_TOPIC"
	topicCheckpoint       = "CHECKPOINT_TOPIC"
)

// systemRules is the one table of system topics. The real broker takes client sends to
// rmq_sys_wheel_timer, where a foreign record stops every timer; this one does not.
var systemRules = map[string]SystemRule{
	message.TopicAutoCreate:    {System: true},
	message.TopicBenchmark:     {System: true},
	message.TopicTrace:         {System: true},
	message.TopicSchedule:      {System: true, NoSend: true, NoPull: true},
	message.TopicTimer:         {System: true, NoSend: true, NoPull: true},
	message.TopicParked:        {System: true, NoSend: true},
	message.TopicTransHalf:     {System: true, NoSend: true, NoPull: true},
	message.TopicTransOpHalf:   {System: true, NoSend: true, NoPull: true},
	message.TopicTransCheckMax: {System: true, NoSend: true},
	message.TopicSelfTest:      {System: true, NoSend: true},
	message.TopicOffsetMoved:   {System: true, NoSend: true},
	topicRocksTransHalf:        {System: true, NoPull: true},
	topicRocksTransOpHalf:      {System: true, NoPull: true},
	topicCheckpoint:            {System: true},
}

var prefixSystem = []byte(message.PrefixSystem)

// Rule returns the rule of a topic by its name alone.
func Rule(name []byte) SystemRule {
	if rule, ok := systemRules[string(name)]; ok {
		return rule
	}
	return SystemRule{System: bytes.HasPrefix(name, prefixSystem)}
}

// CheckChange refuses to create, change or delete a system topic (code 29).
func (t *Table) CheckChange(name string) error {
	if Rule([]byte(name)).System || t.own[name] {
		return remoting.Errorf(remoting.InvalidParameter, "The topic[%s] is conflict with system topic.", name)
	}
	return nil
}

// SystemNames lists the system topics of this broker.
func (t *Table) SystemNames() []string {
	names := make(map[string]bool)
	for name := range systemRules {
		names[name] = true
	}
	for name := range t.own {
		names[name] = true
	}
	return sortedNames(names)
}

// createSystem makes the topics that a broker has from its start.
func (t *Table) createSystem() {
	o := t.opts
	own := ownNames{o.Cluster, o.Broker}
	for _, config := range systemTopics(&o, own) {
		if t.GetString(config.TopicName) == nil || config.TopicName == message.TopicSchedule {
			t.store(config)
		}
	}
	if !o.AutoCreate {
		t.drop(message.TopicAutoCreate)
	}
	t.own = map[string]bool{
		o.Cluster: true, o.Broker: true, own.reply(): true, own.revive(): true, own.members(): true,
	}
}

func systemTopics(o *Options, own ownNames) []*Config {
	cluster, broker := PermInherit, PermInherit
	if o.ClusterTopicEnable {
		cluster |= PermRead | PermWrite
	}
	if o.BrokerTopicEnable {
		broker |= PermRead | PermWrite
	}
	const rw = PermRead | PermWrite
	list := []*Config{
		newConfig(message.TopicSelfTest, 1, 1, rw),
		newConfig(message.TopicBenchmark, 1024, 1024, rw),
		newConfig(o.Cluster, 16, 16, cluster),
		newConfig(o.Broker, 1, 1, broker),
		newConfig(message.TopicOffsetMoved, 1, 1, rw),
		newConfig(message.TopicSchedule, o.ScheduleQueues, o.ScheduleQueues, rw),
		newConfig(own.reply(), 1, 1, rw),
		newConfig(own.revive(), 8, 8, rw),
		newConfig(own.members(), 1, 1, PermInherit),
		newConfig(message.TopicTransHalf, 1, 1, rw),
		newConfig(message.TopicTransOpHalf, 1, 1, rw),
		newConfig(topicRocksTransHalf, 1, 1, rw),
		newConfig(topicRocksTransOpHalf, 1, 1, rw),
		newConfig(message.TopicTimer, 1, 1, rw),
		newConfig(message.TopicParked, 1, 1, PermRead),
	}
	if o.AutoCreate {
		list = append(list, parent(o.DefaultQueueNums))
	}
	if o.TraceTopicEnable {
		list = append(list, newConfig(message.TopicTrace, 1, 1, rw))
	}
	return list
}

// parent is the topic that new topics inherit from.
func parent(queueNums int32) *Config {
	return newConfig(message.TopicAutoCreate, queueNums, queueNums, PermRead|PermWrite|PermInherit)
}

// AutoCreate changes whether a send may create a topic, and with how many queues at most: that is the
// topic that new ones inherit from.
func (t *Table) AutoCreate(on bool, queueNums int32) error {
	if !on {
		_, err := t.Delete(message.TopicAutoCreate)
		return err
	}
	_, err := t.change(func() *Config { return parent(queueNums) })
	return err
}

// Announce tells of every topic as of one that has changed, with a new version: what the broker says
// of them besides has changed.
func (t *Table) Announce() error {
	t.mu.Lock()
	err := t.save()
	all := slices.Collect(maps.Values(*t.topics.Load()))
	t.mu.Unlock()
	t.tell(all, nil)
	return err
}

// ownNames are the names of the system topics called after a cluster and a broker.
type ownNames struct{ cluster, broker string }

func (n ownNames) reply() string   { return n.cluster + "_REPLY_TOPIC" }
func (n ownNames) revive() string  { return message.PrefixSystem + "REVIVE_LOG_" + n.cluster }
func (n ownNames) members() string { return message.PrefixSystem + "SYNC_BROKER_MEMBER_" + n.broker }
