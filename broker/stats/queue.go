package stats

import (
	"sync"
	"sync/atomic"
)

// queue is the counters of one queue of a topic, or of a group in it.
type queue struct {
	took            counter // ms
	messages, bytes counter
}

// queues are a topic's, by id. Reading takes no lock and allocates nothing once a queue is known.
type queues struct {
	mu   sync.Mutex // of growing
	list atomic.Pointer[[]*queue]
}

// at returns a queue's counters. Ids below 0 share those of 0.
func (q *queues) at(id int32) *queue {
	id = max(id, 0)
	if list := q.list.Load(); list != nil && int(id) < len(*list) && (*list)[id] != nil {
		return (*list)[id]
	}
	return q.grow(id)
}

func (q *queues) grow(id int32) *queue {
	q.mu.Lock()
	defer q.mu.Unlock()
	var old []*queue
	if list := q.list.Load(); list != nil {
		old = *list
	}
	if int(id) < len(old) && old[id] != nil {
		return old[id]
	}
	list := make([]*queue, max(len(old), int(id)+1))
	copy(list, old)
	list[id] = new(queue)
	q.list.Store(&list)
	return list[id]
}

// find is at without making one.
func (q *queues) find(id int) *queue {
	if list := q.list.Load(); list != nil && id >= 0 && id < len(*list) {
		return (*list)[id]
	}
	return nil
}

func (q *queues) each(visit func(*counter)) {
	list := q.list.Load()
	if list == nil {
		return
	}
	for _, one := range *list {
		if one != nil {
			visit(&one.took)
			visit(&one.messages)
			visit(&one.bytes)
		}
	}
}
