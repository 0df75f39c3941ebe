package store

import (
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/wheelmq/wheelmq/store/region"
)

// queueTable holds every ConsumeQueue by topic and number.
type queueTable struct {
	fs       region.FS
	fileSize int

	mu     sync.RWMutex // guards topics
	topics map[string]map[int32]*ConsumeQueue
}

func newQueueTable(fs region.FS, fileSize int) *queueTable {
	return &queueTable{fs: fs, fileSize: fileSize, topics: make(map[string]map[int32]*ConsumeQueue)}
}

// find returns a queue that exists, or nil.
func (t *queueTable) find(topic []byte, queueID int32) *ConsumeQueue {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.topics[string(topic)][queueID]
}

// findOrCreate returns a queue, making it when needed.
func (t *queueTable) findOrCreate(topic string, queueID int32) *ConsumeQueue {
	t.mu.RLock()
	q := t.topics[topic][queueID]
	t.mu.RUnlock()
	if q != nil {
		return q
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	queues := t.topics[topic]
	if queues == nil {
		queues = make(map[int32]*ConsumeQueue)
		// The caller's topic may alias a frame's buffer.
		t.topics[strings.Clone(topic)] = queues
	}
	if q = queues[queueID]; q == nil {
		q = newConsumeQueue(t.fs, strings.Clone(topic), queueID, t.fileSize)
		queues[queueID] = q
	}
	return q
}

// of returns a topic's queues, by number.
func (t *queueTable) of(topic string) []*ConsumeQueue {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return ordered(t.topics[topic])
}

func ordered(queues map[int32]*ConsumeQueue) []*ConsumeQueue {
	list := make([]*ConsumeQueue, 0, len(queues))
	for _, q := range queues {
		list = append(list, q)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].queueID < list[j].queueID })
	return list
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
		list = append(list, ordered(t.topics[name])...)
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
			q := t.findOrCreate(topic.Name, int32(n))
			if err := q.load(); err != nil {
				return err
			}
			// New queues of an existing store are like its others.
			t.fileSize = int(q.fileSize)
		}
	}
	return nil
}

// remove forgets a topic's queues and deletes their files. Caller holds Store.mu, so that no
// record is on its way into them.
func (t *queueTable) remove(topic string) error {
	t.mu.Lock()
	queues := t.topics[topic]
	delete(t.topics, topic)
	t.mu.Unlock()
	for _, q := range queues {
		q.close()
	}
	return t.fs.Remove(consumeQueueDir + "/" + topic)
}
