package namesrv

import "github.com/wheelmq/wheelmq/remoting"

// Queues is what living brokers have of a topic.
func (s *Server) Queues(topic string) []remoting.QueueData { return s.table.Queues(topic) }

// Queues is what living brokers have of a topic.
func (t *Table) Queues(topic string) (list []remoting.QueueData) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for name, queues := range t.topics[topic] {
		if len(t.brokers[name]) > 0 {
			list = append(list, queues)
		}
	}
	return list
}
