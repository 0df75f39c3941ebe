package stats

import (
	"strconv"
	"strings"

	"github.com/wheelmq/wheelmq/message"
)

// Counters by RocketMQ's statistics names (BrokerStatsManager, 5.5.0). What that has besides, of
// accounts and of reads from disk, an open-source broker never counts; what it counts of connections is
// in the metrics here.
var (
	ofTopic = map[string]func(*Topic) *counter{
		"TOPIC_PUT_NUMS": func(t *Topic) *counter { return &t.puts },
		"TOPIC_PUT_SIZE": func(t *Topic) *counter { return &t.putBytes },
	}
	ofGroup = map[string]func(*Group) *counter{
		"GROUP_GET_NUMS":   func(g *Group) *counter { return &g.gots },
		"GROUP_GET_SIZE":   func(g *Group) *counter { return &g.gotBytes },
		"SNDBCK_PUT_NUMS":  func(g *Group) *counter { return &g.sentBack },
		"SNDBCK2DLQ_TIMES": func(g *Group) *counter { return &g.deadLetters },
		"GROUP_ACK_NUMS":   func(g *Group) *counter { return &g.acks },
		"GROUP_CK_NUMS":    func(g *Group) *counter { return &g.checkpoints },
	}
	ofBroker = map[string]int{
		"BROKER_PUT_NUMS": puts, "BROKER_GET_NUMS": gots, "BROKER_ACK_NUMS": acks, "BROKER_CK_NUMS": checkpoints,
		"BROKER_PUT_NUMS_WITHOUT_SYSTEM_TOPIC": putsUser, "BROKER_GET_NUMS_WITHOUT_SYSTEM_TOPIC": gotsUser,
	}
	ofQueue = map[string]func(*queue) *counter{
		"TOPIC_PUT_LATENCY": func(q *queue) *counter { return &q.took },
		"GROUP_GET_LATENCY": func(q *queue) *counter { return &q.took },
		"QUEUE_PUT_NUMS":    func(q *queue) *counter { return &q.messages },
		"QUEUE_PUT_SIZE":    func(q *queue) *counter { return &q.bytes },
		"QUEUE_GET_NUMS":    func(q *queue) *counter { return &q.messages },
		"QUEUE_GET_SIZE":    func(q *queue) *counter { return &q.bytes },
	}
)

// View returns a counter by RocketMQ's statistics name and key (request code 315). Keys are the topic,
// "topic@group", "topic@queueId" and "topic@queueId@group" of QUEUE_, "queueId@topic" and
// "queueId@topic@group" of _LATENCY, or the cluster's name for the broker's own. It is false for a name
// or key that has counted nothing.
func (s *Service) View(name, key string) (View, bool) {
	c := s.counter(name, key)
	if c == nil || !c.used() {
		return View{}, false
	}
	s.sampleMu.Lock()
	defer s.sampleMu.Unlock()
	return c.view(s.opts.Wire.NowMillis()), true
}

func (s *Service) counter(name, key string) *counter {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if pick, ok := ofTopic[name]; ok && s.topics[key] != nil {
		return pick(s.topics[key])
	}
	if pick, ok := ofGroup[name]; ok && s.groups[key] != nil {
		return pick(s.groups[key])
	}
	if pick, ok := ofQueue[name]; ok {
		if q := s.queue(name, key); q != nil {
			return pick(q)
		}
		return nil
	}
	return s.own(name, key)
}

// own is a counter of the broker as a whole, or nil.
func (s *Service) own(name, key string) *counter {
	if i, ok := ofBroker[name]; ok && key == s.opts.Cluster {
		return &s.broker[i]
	}
	return nil
}

// queue finds the queue that a key names, or nil. s.mu is held.
func (s *Service) queue(name, key string) *queue {
	parts := strings.Split(key, "@")
	if len(parts) < 2 {
		return nil
	}
	topic, id := parts[0], parts[1]
	if strings.HasSuffix(name, "_LATENCY") {
		topic, id = id, topic
	}
	queueID, err := strconv.Atoi(id)
	if err != nil {
		return nil
	}
	ofPuts := strings.Contains(name, "_PUT_")
	switch {
	case ofPuts && len(parts) == 2 && s.topics[topic] != nil:
		return s.topics[topic].queues.find(queueID)
	case !ofPuts && len(parts) == 3 && s.groups[topic+"@"+parts[2]] != nil:
		return s.groups[topic+"@"+parts[2]].queues.find(queueID)
	}
	return nil
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
