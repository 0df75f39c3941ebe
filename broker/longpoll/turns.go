package longpoll

import (
	"slices"

	"github.com/wheelmq/wheelmq/store"
)

// Kind is what a waiter waits for.
type Kind uint8

// Kinds of waiters. Pulls of a queue are all resumed by a record that they want. Of the pops of one
// group, and of its notifications, one is resumed by each record, in turn: the next gets the next.
const (
	Pull Kind = iota
	Pop
	Notification
	kinds
)

// AnyQueue is the queue id of a pop or notification that takes from every queue.
const AnyQueue = -1

// What bounds the waiters that take turns, unless Options say otherwise (popPollingSize and
// maxPopPollingSize of RocketMQ 5.5.0).
const (
	defaultMaxTurns     = 100_000
	defaultMaxTurnsEach = 1024
)

// forceEvery is how far apart the offsets are whose records resume a pop that does not want them
// (popLongPollingForceNotifyInterval): it passes over them, or its group would seem to lag.
const forceEvery = 800

// lineKey names who takes turns.
type lineKey struct {
	topic, group string
	kind         Kind
}

// line is the waiters that take turns, by queue.
type line struct {
	key    lineKey
	retry  []string // stored topics beside key.topic whose records are for it
	queues map[int32]*bucket
}

// ParkTurn holds a pop or a notification; false: there are too many already, and it was not held.
// retry are the stored topics whose records it takes beside those of its topic. As with Park, the
// caller must look again afterwards.
func (s *Service) ParkTurn(w *Waiter, retry ...string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuse(w) {
		return true
	}
	l := s.lines[lineKey{w.Topic, w.Group, w.Kind}]
	if s.turns >= s.opts.MaxTurns || l != nil && l.queues[w.QueueID] != nil && l.queues[w.QueueID].n > s.opts.MaxTurnsEach {
		return false
	}
	if l == nil {
		l = s.open(lineKey{w.Topic, w.Group, w.Kind}, retry)
	}
	queue := l.queues[w.QueueID]
	if queue == nil {
		queue = &bucket{key: bucketKey{w.Topic, w.QueueID}, line: l}
		l.queues[w.QueueID] = queue
	}
	s.turns++
	s.hold(w, queue)
	return true
}

// LimitTurns changes how many waiters that take turns may be held from now on, in all and of one group for
// one queue.
func (s *Service) LimitTurns(all, each int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opts.MaxTurns, s.opts.MaxTurnsEach = all, each
}

// open makes a line. s.mu is held.
func (s *Service) open(key lineKey, retry []string) *line {
	l := &line{key: key, retry: slices.Clone(retry), queues: make(map[int32]*bucket)}
	s.lines[key] = l
	s.served[key.topic] = append(s.served[key.topic], l)
	for _, topic := range l.retry {
		s.served[topic] = append(s.served[topic], l)
	}
	return l
}

// shut removes a queue without waiters from its line, and a line without queues. s.mu is held.
func (s *Service) shut(queue *bucket) {
	l := queue.line
	delete(l.queues, queue.key.queueID)
	if len(l.queues) > 0 {
		return
	}
	delete(s.lines, l.key)
	s.unserve(l.key.topic, l)
	for _, topic := range l.retry {
		s.unserve(topic, l)
	}
}

func (s *Service) unserve(topic string, l *line) {
	left := slices.DeleteFunc(s.served[topic], func(other *line) bool { return other == l })
	if s.served[topic] = left; len(left) == 0 {
		delete(s.served, topic)
	}
}

// serve resumes whose turn it is when a record has arrived, and returns how many. s.mu is held.
func (s *Service) serve(a store.Arrival) (released int) {
	list := s.served[a.Topic]
	// Backwards: a line that is left empty is removed from the list.
	for i := len(list) - 1; i >= 0; i-- {
		l := list[i]
		wants := func(w *Waiter) bool { return a.Offset%forceEvery == 0 || w.wants(a, s.opts.Records) }
		switch {
		case l.key.topic == a.Topic:
			released += s.next(l, AnyQueue, wants) + s.next(l, a.QueueID, wants)
		case s.next(l, AnyQueue, wants) == 1:
			released++
		default:
			released += s.nextOfAny(l, wants)
		}
	}
	return released
}

// next resumes the first waiter for a queue that wants to be, and returns how many that is. s.mu is held.
func (s *Service) next(l *line, queueID int32, wants func(*Waiter) bool) int {
	queue := l.queues[queueID]
	if queue == nil {
		return 0
	}
	for w := queue.head; w != nil; w = w.queueNext {
		if wants(w) {
			s.release(w, Arrived)
			return 1
		}
	}
	return 0
}

// nextOfAny resumes a waiter for any queue. s.mu is held.
func (s *Service) nextOfAny(l *line, wants func(*Waiter) bool) int {
	for queueID := range l.queues {
		if s.next(l, queueID, wants) == 1 {
			return 1
		}
	}
	return 0
}

// Wake resumes one pop and one notification of a group that a queue has something for: one that takes
// from every queue, or else one for that queue.
func (s *Service) Wake(topic, group string, queueID int32) {
	if s.parked.Load() == 0 {
		return
	}
	anyone := func(*Waiter) bool { return true }
	s.mu.Lock()
	for kind := Pop; kind < kinds; kind++ {
		if l := s.lines[lineKey{topic, group, kind}]; l != nil && s.next(l, AnyQueue, anyone) == 0 {
			s.next(l, queueID, anyone)
		}
	}
	s.mu.Unlock()
	s.wake.Broadcast()
}

// Turns is how many pops of a group wait for a queue, or AnyQueue.
func (s *Service) Turns(topic, group string, queueID int32) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.lines[lineKey{topic, group, Pop}]; l != nil && l.queues[queueID] != nil {
		return l.queues[queueID].n
	}
	return 0
}
