package stats

import (
	"strings"

	"github.com/wheelmq/wheelmq/message"
)

// View returns a counter by RocketMQ's statistics name and key (request code 315): keys
// are the topic, "topic@group", or the cluster's name for the broker's own. It is false
// for a name or key that has counted nothing.
func (s *Service) View(name, key string) (View, bool) {
	c := s.counter(name, key)
	if c == nil {
		return View{}, false
	}
	s.sampleMu.Lock()
	defer s.sampleMu.Unlock()
	return c.view(), true
}

func (s *Service) counter(name, key string) *counter {
	var found *counter
	s.mu.RLock()
	defer s.mu.RUnlock()
	topic, group := s.topics[key], s.groups[key]
	switch {
	case name == "TOPIC_PUT_NUMS" && topic != nil:
		found = &topic.puts
	case name == "TOPIC_PUT_SIZE" && topic != nil:
		found = &topic.putBytes
	case name == "GROUP_GET_NUMS" && group != nil:
		found = &group.gots
	case name == "GROUP_GET_SIZE" && group != nil:
		found = &group.gotBytes
	case name == "SNDBCK_PUT_NUMS" && group != nil:
		found = &group.sentBack
	case key != s.opts.Cluster:
	case name == "BROKER_PUT_NUMS":
		found = &s.puts
	case name == "BROKER_GET_NUMS":
		found = &s.gots
	case name == "BROKER_PUT_NUMS_WITHOUT_SYSTEM_TOPIC":
		found = &s.putsUser
	case name == "BROKER_GET_NUMS_WITHOUT_SYSTEM_TOPIC":
		found = &s.gotsUser
	}
	if found == nil || found.times.Load() == 0 {
		return nil
	}
	return found
}

func (s *Service) forget(match func(topic, group string) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.groups {
		if topic, group, _ := strings.Cut(key, "@"); match(topic, group) {
			delete(s.groups, key)
		}
	}
}

// systemTopic tells the topics that the broker's totals leave out.
func systemTopic(topic string) bool {
	switch topic {
	case message.TopicAutoCreate, message.TopicSchedule, message.TopicBenchmark, message.TopicTransHalf,
		message.TopicTransOpHalf, message.TopicTransCheckMax, message.TopicTrace, message.TopicSelfTest,
		message.TopicOffsetMoved:
		return true
	}
	return strings.HasPrefix(topic, message.PrefixSystem)
}
