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
	budget   *budget
	fileSize int

	mu      sync.RWMutex // guards what follows
	topics  map[string]map[int32]*ConsumeQueue
	leaving map[string]map[int32]*ConsumeQueue // deleted, with files that are still there
}

func newQueueTable(fs region.FS, b *budget, fileSize int) *queueTable {
	return &queueTable{
		fs: fs, budget: b, fileSize: fileSize,
		topics: make(map[string]map[int32]*ConsumeQueue), leaving: make(map[string]map[int32]*ConsumeQueue),
	}
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
		q = newConsumeQueue(t.fs, t.budget, strings.Clone(topic), queueID, t.fileSize)
		q.earlier = t.leaving[topic][queueID]
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

// load opens the queues that exist on disk. Their files have the known size, or without one, 0,
// that of the first.
func (t *queueTable) load(clean bool, known int64, progress *progress) error {
	topics, err := t.fs.List(consumeQueueDir)
	if err != nil {
		return err
	}
	progress.begin(stepLoad, int64(len(topics)))
	for i, topic := range topics {
		progress.at(int64(i))
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
			if err := q.load(clean, known); err != nil {
				return err
			}
			// New queues of an existing store are like its others.
			t.fileSize = int(q.fileSize)
		}
	}
	return nil
}

// manyDirty is from how many queues on the whole file system is synced instead of each file: a
// sync of one costs a disk's cache flush.
const manyDirty = 128

// sync makes every unit durable that is published.
func (t *queueTable) sync() error {
	var dirty []*ConsumeQueue
	for _, q := range t.all() {
		if q.dirty.Load() {
			dirty = append(dirty, q)
		}
	}
	if len(dirty) >= manyDirty {
		return t.syncAll(dirty)
	}
	for _, q := range dirty {
		if err := q.sync(); err != nil {
			return err
		}
	}
	return nil
}

func (t *queueTable) syncAll(dirty []*ConsumeQueue) error {
	published := make([]int64, len(dirty))
	for i, q := range dirty {
		q.dirty.Store(false)
		published[i] = q.Max()
	}
	if err := t.fs.SyncAll(); err != nil {
		for _, q := range dirty {
			q.dirty.Store(true)
		}
		return err
	}
	for i, q := range dirty {
		q.settle(published[i])
	}
	return nil
}
