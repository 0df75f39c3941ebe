package timer

import "github.com/wheelmq/wheelmq/message"

// topicCount is how many messages pend for a real topic.
type topicCount struct {
	name    string
	n       int64
	changed int64 // when the last one came, ms of message time
	flow
}

// topicCounts count pending messages by real topic. A message that is cancelled counts until its
// second is due.
type topicCounts struct {
	byName map[string]*topicCount
	last   *topicCount
}

func (t *topicCounts) init() { t.byName = make(map[string]*topicCount) }

// of is the count of a topic.
func (t *topicCounts) of(name string) *topicCount {
	if t.last != nil && t.last.name == name {
		return t.last
	}
	c := t.byName[name]
	if c == nil {
		c = &topicCount{name: name}
		t.byName[name] = c
	}
	t.last = c
	return c
}

// add counts in a message that comes now.
func (t *topicCounts) add(name []byte, now int64) {
	if t.last == nil || t.last.name != string(name) {
		if t.last = t.byName[string(name)]; t.last == nil {
			t.of(string(name))
		}
	}
	t.last.n++
	t.last.changed = now
}

// ofRecord is the count of the topic that a pending record goes to.
func (t *topicCounts) ofRecord(v *message.View) *topicCount {
	name, _ := message.PropertyGet(v.Properties, message.PropertyRealTopic)
	return t.of(string(name))
}

// total is how many messages pend.
func (t *topicCounts) total() (n int64) {
	for _, c := range t.byName {
		n += c.n
	}
	return n
}

// pending are the counts that are not 0, by name.
func (t *topicCounts) pending() map[string]int64 {
	counts := make(map[string]int64)
	for _, c := range t.byName {
		if c.n != 0 {
			counts[c.name] = c.n
		}
	}
	return counts
}

// waiting are the messages that wait, by real topic.
func (t *topicCounts) waiting() map[string]TopicPending {
	counts := make(map[string]TopicPending, len(t.byName))
	for name, c := range t.byName {
		if c.n > 0 {
			counts[name] = TopicPending{Messages: c.n, ChangedAtMs: c.changed}
		}
	}
	return counts
}

// flows are those of every topic.
func (t *topicCounts) flows() map[string]flow {
	list := make(map[string]flow, len(t.byName))
	for name, c := range t.byName {
		list[name] = c.flow
	}
	return list
}
