package store

import (
	"errors"
	"fmt"
	"maps"
)

// DeleteTopic implements Log. Where the log ended is noted first, so that no recovery brings the
// queues back. Others wait for their turn at the log only while queues are marked, never for the
// disk; records for these queues are refused until the note is durable.
func (s *Store) DeleteTopic(topic string) error {
	if !validName(topic) {
		return fmt.Errorf("store: %q is no topic", topic)
	}
	s.deleting.Lock()
	defer s.deleting.Unlock()
	queues, err := s.detach(topic)
	if err != nil {
		return err
	}
	for _, q := range queues {
		if failed := s.queues.erase(q); failed != nil {
			err = errors.Join(err, failed)
		}
	}
	if err != nil {
		return fmt.Errorf("store: delete topic %s: %w", topic, err)
	}
	return s.eraseTopic(topic)
}

// detach notes a topic's end and takes its queues out of use. Who writes to one of them from then
// on gets a new one.
func (s *Store) detach(topic string) ([]*ConsumeQueue, error) {
	s.flushMu.Lock()
	defer s.flushMu.Unlock()
	queues := s.queues.of(topic)
	before := s.meta
	before.Deleted = maps.Clone(s.meta.Deleted)
	if err := s.leave(topic, queues); err != nil {
		return nil, err
	}
	err := s.saveMeta()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.meta = before
		for _, q := range queues {
			q.leaving = false
		}
		return nil, err
	}
	s.queues.detach(topic, queues)
	return queues, nil
}

// leave closes queues to records, and notes and counts what is left without them. Caller holds flushMu.
func (s *Store) leave(topic string, queues []*ConsumeQueue) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	if s.meta.Deleted == nil {
		s.meta.Deleted = make(map[string]int64)
	}
	s.meta.Deleted[topic] = s.log.end.Load()
	for _, q := range queues {
		q.leaving = true
		if q.counted > 0 {
			s.meta.Queues--
			s.meta.Units -= q.counted
			s.meta.Heads -= q.first()
		}
	}
	return nil
}

// eraseTopic removes the directory of a topic whose queues are erased, unless it has new ones.
func (s *Store) eraseTopic(topic string) error {
	dir := consumeQueueDir + "/" + topic
	s.mu.Lock()
	var err error
	if !s.queues.has(topic) {
		// Nobody makes a file of a queue without a turn at the log.
		err = s.fs.Remove(dir)
	}
	s.mu.Unlock()
	if err != nil {
		return fmt.Errorf("store: delete topic %s: %w", topic, err)
	}
	return errors.Join(s.fs.SyncDir(dir), s.fs.SyncDir(consumeQueueDir))
}

// detach takes a topic's queues out of the table. Their files are there until they are erased.
// Caller holds Store.mu, so that no record is on its way into them.
func (t *queueTable) detach(topic string, queues []*ConsumeQueue) {
	t.mu.Lock()
	defer t.mu.Unlock()
	left := t.leaving[topic]
	if left == nil {
		left = make(map[int32]*ConsumeQueue, len(queues))
		t.leaving[topic] = left
	}
	for _, q := range queues {
		q.detach()
		left[q.queueID] = q
		delete(t.topics[topic], q.queueID)
	}
	if len(t.topics[topic]) == 0 {
		delete(t.topics, topic)
	}
}

// erase removes a detached queue's files.
func (t *queueTable) erase(q *ConsumeQueue) error {
	if err := q.erase(); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	left := t.leaving[q.topic]
	if delete(left, q.queueID); len(left) == 0 {
		delete(t.leaving, q.topic)
	}
	return nil
}

// has tells whether a topic has queues, detached ones too.
func (t *queueTable) has(topic string) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.topics[topic]) > 0 || len(t.leaving[topic]) > 0
}

// isLeaving tells whether files of a topic's earlier queues are there.
func (t *queueTable) isLeaving(topic string) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.leaving[topic]) > 0
}

// detach ends the queue's use; it is empty for ever after. Its files stay mapped.
func (q *ConsumeQueue) detach() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.gone {
		return
	}
	q.gone = true
	q.left = *q.files.Load()
	q.max.Store(q.min.Load())
	q.files.Store(&[]*file{})
}

// erase removes the files of a detached queue, once.
func (q *ConsumeQueue) erase() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.discardLeft()
	if q.erased {
		return nil
	}
	if err := q.fs.Remove(q.dir); err != nil {
		return err
	}
	q.erased = true
	return nil
}

// discardLeft unmaps the files of a detached queue. Caller holds mu.
func (q *ConsumeQueue) discardLeft() {
	for _, f := range q.left {
		f.discard()
	}
	q.left = nil
}

// eraseEarlier makes room for the queue's first file: those of a deleted queue of its name may still
// be there. Caller holds mu.
func (q *ConsumeQueue) eraseEarlier() error {
	if q.earlier == nil {
		return nil
	}
	if err := q.earlier.erase(); err != nil {
		return err
	}
	q.earlier = nil
	return nil
}
