package schedule

import (
	"container/heap"
	"fmt"
	"iter"

	"github.com/wheelmq/wheelmq/broker/redeliver"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
)

// Pending is a message that waits for its time, by its place in the log.
type Pending struct {
	Level           int64
	Due             int64 // ms
	QueueOffset     int64 // of its level's queue
	CommitLogOffset int64 // bytes
	Size            int32 // of the record, bytes
}

// Due is the instant at which the first pending message is due, ms, and how many there are; with
// none the instant is math.MaxInt64. Messages that have just come count.
func (s *Service) Due() (next, messages int64) {
	next = never
	s.Pending()(func(p Pending) bool {
		next = p.Due
		return false
	})
	for _, l := range s.levels {
		messages += s.pending(l)
	}
	return next, messages
}

// Pending lists the pending messages in the order in which they come due, those of the same
// instant by level and then as they arrived. Nothing is held meanwhile: what is delivered while
// the caller goes on may be in the list. Memory is taken for steps in the order of the queues,
// not for messages.
func (s *Service) Pending() iter.Seq[Pending] {
	return func(yield func(Pending) bool) {
		var m merge
		for _, l := range s.levels {
			for _, c := range s.cursors(l) {
				if c.read() {
					m = append(m, c)
				}
			}
		}
		heap.Init(&m)
		for len(m) > 0 {
			if !yield(m[0].head) {
				return
			}
			if m[0].at++; m[0].read() {
				heap.Fix(&m, 0)
			} else {
				heap.Pop(&m)
			}
		}
	}
}

// cursors are at the beginning of each stretch of a level's queue that is not delivered.
func (s *Service) cursors(l *level) (list []*cursor) {
	q := s.opts.Log.Queue(topicSchedule, l.queueID)
	if q == nil {
		return nil
	}
	s.mu.Lock()
	scanned := l.backlog.scanned
	for _, r := range l.backlog.runs {
		if r.done < r.end {
			list = append(list, &cursor{s: s, l: l, q: q, at: r.done, end: r.end})
		}
	}
	s.mu.Unlock()
	// The driver has not looked at what came since and is not due before all else.
	fresh := newBacklog(scanned)
	fresh.exact = s.opts.InOrder
	for end := q.Max(); fresh.scanned < end; {
		u, ok := q.Unit(fresh.scanned)
		if !ok {
			break
		}
		fresh.add(s.due(l, &u))
	}
	for _, r := range fresh.runs {
		list = append(list, &cursor{s: s, l: l, q: q, at: r.done, end: r.end})
	}
	return list
}

// cursor goes through a stretch of a level's queue.
type cursor struct {
	s       *Service
	l       *level
	q       *store.ConsumeQueue
	at, end int64 // units
	head    Pending
}

// read makes head the message at the cursor, and passes what the queue no longer has.
func (c *cursor) read() bool {
	for c.at = max(c.at, c.q.Min()); c.at < c.end; c.at++ {
		if u, ok := c.q.Unit(c.at); ok {
			c.head = Pending{
				Level: c.l.number, Due: c.s.due(c.l, &u), QueueOffset: c.at, CommitLogOffset: u.CommitLogOffset, Size: u.Size,
			}
			return true
		}
	}
	return false
}

// merge is a heap of cursors, the next due first.
type merge []*cursor

func (m merge) Len() int { return len(m) }
func (m merge) Less(i, j int) bool {
	a, b := &m[i].head, &m[j].head
	switch {
	case a.Due != b.Due:
		return a.Due < b.Due
	case a.Level != b.Level:
		return a.Level < b.Level
	}
	return a.QueueOffset < b.QueueOffset
}
func (m merge) Swap(i, j int) { m[i], m[j] = m[j], m[i] }

// Push implements heap.Interface.
func (m *merge) Push(x any) { *m = append(*m, x.(*cursor)) }

// Pop implements heap.Interface.
func (m *merge) Pop() any {
	old := *m
	last := old[len(old)-1]
	*m = old[:len(old)-1]
	return last
}

// Read returns a pending message as it will be in its topic, but for where it will lie there:
// CommitLogOffset and StoreTimestamp are of where it waits.
func (s *Service) Read(p Pending) (message.Record, error) {
	slice, err := s.opts.Log.Record(p.CommitLogOffset, p.Size)
	if err != nil {
		return message.Record{}, fmt.Errorf("schedule: pending message at %d: %w", p.CommitLogOffset, err)
	}
	defer slice.Release()
	v, err := message.Parse(slice.Bytes)
	if err != nil {
		return message.Record{}, fmt.Errorf("schedule: pending message at %d: %w", p.CommitLogOffset, err)
	}
	rec, err := redeliver.Real(&v, p.CommitLogOffset)
	if err != nil {
		return message.Record{}, fmt.Errorf("schedule: %w", err)
	}
	return rec, nil
}
