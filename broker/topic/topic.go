// Package topic is the broker's topic table: what exists, who may use it, and how a send to
// an unknown topic creates it. It is persisted as topics.json in the real broker's shape.
package topic

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wheelmq/wheelmq/remoting"
)

// Config is a topic's configuration. One that a Table hands out is immutable.
type Config = remoting.TopicConfig

// Bits of Config.Perm.
const (
	PermRead    int32 = 4
	PermWrite   int32 = 2
	PermInherit int32 = 1
)

// Format is a configuration as the real broker's remarks print it.
func Format(c *Config) string {
	return fmt.Sprintf("TopicConfig [topicName=%s, readQueueNums=%d, writeQueueNums=%d, perm=%s, topicFilterType=%s, "+
		"topicSysFlag=%d, order=%t, attributes=%s]", c.TopicName, c.ReadQueueNums, c.WriteQueueNums, formatPerm(c.Perm),
		c.TopicFilterType, c.TopicSysFlag, c.Order, formatAttributes(c.Attributes))
}

func formatPerm(perm int32) string {
	text := []byte("---")
	for i, bit := range [...]int32{PermRead, PermWrite, PermInherit} {
		if perm&bit != 0 {
			text[i] = "RWX"[i]
		}
	}
	return string(text)
}

func formatAttributes(attributes map[string]string) string {
	var items []string
	for _, key := range sortedNames(attributes) {
		items = append(items, key+"="+attributes[key])
	}
	return "{" + strings.Join(items, ", ") + "}"
}

// Adopted is the configuration of a topic of which nothing is known but its queues.
func Adopted(name string, queues int32) Config {
	return *newConfig(name, queues, queues, PermRead|PermWrite)
}

func newConfig(name string, read, write, perm int32) *Config {
	return &Config{
		Attributes: map[string]string{}, TopicName: name, ReadQueueNums: read, WriteQueueNums: write, Perm: perm,
		TopicFilterType: "SINGLE_TAG",
	}
}

func equal(a, b *Config) bool {
	return a.Order == b.Order && a.Perm == b.Perm && a.ReadQueueNums == b.ReadQueueNums &&
		a.WriteQueueNums == b.WriteQueueNums && a.TopicFilterType == b.TopicFilterType &&
		a.TopicSysFlag == b.TopicSysFlag && maps.Equal(a.Attributes, b.Attributes)
}

// sortedNames lists a table's names in order.
func sortedNames[V any](table map[string]V) []string { return slices.Sorted(maps.Keys(table)) }

// QueueFor is the queue of a topic that a message is stored in which was meant for a queue some time ago: that
// one, or, when the topic has fewer queues since, one of those that consumers read.
func QueueFor(c *Config, queueID int32) int32 {
	if queueID < max(c.ReadQueueNums, c.WriteQueueNums) {
		return queueID
	}
	if queues := cmp.Or(max(0, c.ReadQueueNums), max(0, c.WriteQueueNums)); queues > 0 {
		return queueID % queues
	}
	return queueID
}

// Restrict narrows a table that is about to be registered to what brokerPermission lets
// clients do. The inherit bit stays: it is about topics to come.
func Restrict(table map[string]Config, brokerPermission int32) {
	for name, config := range table {
		config.Perm &= brokerPermission | PermInherit
		table[name] = config
	}
}
