package explain

import (
	"strings"

	"github.com/wheelmq/wheelmq/admin"
	"github.com/wheelmq/wheelmq/broker/park"
	"github.com/wheelmq/wheelmq/message"
)

// propertyOriginGroup names, on a copy that a pop's expiry made, the group that it is for.
const propertyOriginGroup = "ORIGIN_GROUP"

// history sorts the records of one message by what they are. Later ones replace earlier ones.
type history struct {
	topic   string         // the message's own
	visible *admin.Message // in its topic
	waiting *admin.Message // waits for its time, in nobody's sight
	recall  *admin.Message // asks to cancel what waits
	half    *admin.Message
	givenUp *admin.Message // a transaction without an answer
	parked  *admin.Message
	retries map[string]*admin.Message // by group: in its retry topic
	dead    map[string]*admin.Message // by group: in its dead letters
}

// historyOf sorts records that are in the order in which they were stored.
func historyOf(records []admin.Message) *history {
	h := &history{retries: make(map[string]*admin.Message), dead: make(map[string]*admin.Message)}
	for i := range records {
		m := &records[i]
		h.arrived(m)
		h.take(m)
	}
	return h
}

// arrived forgets what waits once a copy of it is where it was to be.
func (h *history) arrived(m *admin.Message) {
	if w := h.waiting; w != nil && m.ReconsumeTimes == w.ReconsumeTimes &&
		(m.Topic == target(w) || m.Topic == message.TopicParked) {
		h.waiting = nil
	}
}

// target is the topic that a record which waits is for.
func target(m *admin.Message) string { return m.Properties[message.PropertyRealTopic] }

func (h *history) take(m *admin.Message) {
	switch topic := m.Topic; {
	case topic == message.TopicSchedule, topic == message.TopicTimer:
		h.takeWaiting(m)
	case topic == message.TopicTransHalf:
		h.half = m
		h.own(target(m))
	case topic == message.TopicTransCheckMax:
		h.givenUp = m
	case topic == message.TopicParked:
		h.parked = m
		h.own(m.Properties[park.PropertyTopic])
	case strings.HasPrefix(topic, message.PrefixRetry):
		h.retries[h.groupOf(m, message.PrefixRetry)] = m
	case strings.HasPrefix(topic, message.PrefixDLQ):
		h.dead[h.groupOf(m, message.PrefixDLQ)] = m
	case strings.HasPrefix(topic, message.PrefixSystem), topic == message.TopicTransOpHalf:
	default:
		h.visible, h.parked = m, nil
		h.own(topic)
	}
}

func (h *history) takeWaiting(m *admin.Message) {
	if m.Properties[message.PropertyTimerDelUniqKey] != "" {
		h.recall = m
		h.own(target(m))
		return
	}
	if sup, ok := message.ParseSupersedes([]byte(m.Properties[message.PropertySupersedes])); ok && sup.Generation == 0 {
		h.recall = m
		return
	}
	h.waiting = m
	h.own(target(m))
}

// own notes the message's own topic.
func (h *history) own(topic string) {
	if topic != "" && !strings.HasPrefix(topic, message.PrefixRetry) {
		h.topic = topic
	}
}

// groupOf is the group that a copy is for. The retry topic of a pop has the topic behind the group.
func (h *history) groupOf(m *admin.Message, prefix string) string {
	if group := m.Properties[propertyOriginGroup]; group != "" && prefix == message.PrefixRetry {
		return group
	}
	return h.groupIn(strings.TrimPrefix(m.Topic, prefix))
}

func (h *history) groupIn(name string) string {
	for _, between := range []string{"_", "+"} {
		if group, ok := strings.CutSuffix(name, between+h.topic); ok && h.topic != "" {
			return group
		}
	}
	return name
}

// failedGroup is the group that a waiting record is to be given to again; "" when it waits for its first
// delivery.
func (h *history) failedGroup() string {
	if h.waiting == nil {
		return ""
	}
	name, retry := strings.CutPrefix(target(h.waiting), message.PrefixRetry)
	if !retry {
		return ""
	}
	return h.groupIn(name)
}
