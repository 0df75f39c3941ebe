package store

import (
	"sort"
	"strconv"
	"sync"

	"github.com/wheelmq/wheelmq/store/region"
)

// queueTable holds every ConsumeQueue by topic and number.
type queueTable struct {
	fs       region.FS
	fileSize int

	mu     sync.RWMutex // guards topics
	topics map[string][]*ConsumeQueue
}

func newQueueTable(fs region.FS, fileSize int) *queueTable {
	return &queueTable{fs: fs, fileSize: fileSize, topics: make(map[string][]*ConsumeQueue)}
}

// find returns a queue that exists, or nil.
func (t *queueTable) find(topic []byte, queueID int32) *ConsumeQueue {
	t.mu.RLock()
	defer t.mu.RUnlock()
	queues := t.topics[string(topic)]
	if queueID < 0 || int(queueID) >= len(queues) {
		return nil
	}
	return queues[queueID]
}

// findOrCreate returns a queue, making it when needed.
func (t *queueTable) findOrCreate(topic string, queueID int32) *ConsumeQueue {
	t.mu.RLock()
	if queues := t.topics[topic]; int(queueID) < len(queues) && queues[queueID] != nil {
		t.mu.RUnlock()
		return queues[queueID]
	}
	t.mu.RUnlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	queues := t.topics[topic]
	for int(queueID) >= len(queues) {
		queues = append(queues, nil)
	}
	if queues[queueID] == nil {
		queues[queueID] = newConsumeQueue(t.fs, topic, queueID, t.fileSize)
	}
	t.topics[topic] = queues
	return queues[queueID]
}

// all returns every queue, ordered.
func (t *queueTable) all() []*ConsumeQueue {
	t.mu.RLock()
	defer t.mu.RUnlock()
	names := make([]string, 0, len(t.topics))
	for name := range t.topics {
		names = append(names, name)
	}
	sort.Strings(names)
	var list []*ConsumeQueue
	for _, name := range names {
		for _, q := range t.topics[name] {
			if q != nil {
				list = append(list, q)
			}
		}
	}
	return list
}

// load opens the queues that exist on disk.
func (t *queueTable) load() error {
	topics, err := t.fs.List(consumeQueueDir)
	if err != nil {
		return err
	}
	for _, topic := range topics {
		ids, err := t.fs.List(consumeQueueDir + "/" + topic.Name)
		if err != nil {
			return err
		}
		for _, id := range ids {
			n, err := strconv.ParseInt(id.Name, 10, 32)
			if err != nil || n < 0 || !id.Dir {
				continue
			}
			if err := t.findOrCreate(topic.Name, int32(n)).load(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *queueTable) remove(topic string) error {
	t.mu.Lock()
	delete(t.topics, topic)
	t.mu.Unlock()
	// The mappings stay until the process ends: a reader may still hold a queue.
	return t.fs.Remove(consumeQueueDir + "/" + topic)
}
