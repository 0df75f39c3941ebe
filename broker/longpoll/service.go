package longpoll

import (
	"container/heap"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker/filter"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/store"
)

// defaultMaxWaiters bounds the memory that held requests take.
const defaultMaxWaiters = 200_000

// defaultWorkers is how many resumed requests run at once.
const defaultWorkers = 2

// Options configure a Service.
type Options struct {
	Wire       clock.Clock
	Records    filter.Records // what filters of properties read
	Log        logrus.FieldLogger
	Metrics    prometheus.Registerer // may be nil
	Health     *health.Registry      // may be nil
	MaxWaiters int                   // 0: 200,000; beyond it pulls are answered at once
	Workers    int                   // 0: 2
	// MaxTurns bounds the pops and notifications that are held, MaxTurnsEach those of one group, topic
	// and queue (maxPopPollingSize, popPollingSize). 0: 100,000 and 1,024.
	MaxTurns, MaxTurnsEach int
}

// Service holds waiters. Its methods are safe for concurrent use.
type Service struct {
	opts   Options
	parked atomic.Int64 // what an arrival looks at first

	mu       sync.Mutex            // guards all below and every Waiter's unexported fields
	queues   map[bucketKey]*bucket // of pulls
	lines    map[lineKey]*line     // of those who take turns
	served   map[string][]*line    // by stored topic whose records are for them
	turns    int                   // waiters in lines
	conns    map[uint64]*Waiter    // head of the connection's list
	due      deadlines
	ready    []*Waiter // to be resumed, oldest first
	spare    []*Waiter // the emptied ready list
	closed   bool
	stopping bool // nothing is held any more

	wake *sync.Cond    // on mu: ready has something, or closed
	kick chan struct{} // the earliest deadline may have changed, or closed
	wg   sync.WaitGroup

	woken, timedOut, dropped atomic.Int64
}

// New returns a service that does nothing until Start.
func New(opts Options) (*Service, error) {
	if opts.MaxWaiters <= 0 {
		opts.MaxWaiters = defaultMaxWaiters
	}
	if opts.Workers <= 0 {
		opts.Workers = defaultWorkers
	}
	if opts.MaxTurns <= 0 {
		opts.MaxTurns = defaultMaxTurns
	}
	if opts.MaxTurnsEach <= 0 {
		opts.MaxTurnsEach = defaultMaxTurnsEach
	}
	s := &Service{
		opts:   opts,
		queues: make(map[bucketKey]*bucket),
		lines:  make(map[lineKey]*line),
		served: make(map[string][]*line),
		conns:  make(map[uint64]*Waiter),
		kick:   make(chan struct{}, 1),
	}
	s.wake = sync.NewCond(&s.mu)
	if err := s.register(); err != nil {
		return nil, err
	}
	return s, nil
}

// Start begins to resume waiters.
func (s *Service) Start() {
	s.wg.Add(1 + s.opts.Workers)
	go s.timer()
	for range s.opts.Workers {
		go s.worker()
	}
}

// Close stops the service. Requests still held are resumed with Gone: the server is
// closing their connections.
func (s *Service) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	for len(s.due) > 0 {
		s.release(s.due[0], Gone)
	}
	s.mu.Unlock()
	s.wake.Broadcast()
	s.signalTimer()
	s.wg.Wait()
	return nil
}

// StopHolding resumes everything that is held with Stopping, and whatever comes to be held from
// then on: a client whose connection ends under a held request may wait for its answer in vain.
func (s *Service) StopHolding() {
	s.mu.Lock()
	s.stopping = true
	for len(s.due) > 0 {
		s.release(s.due[0], Stopping)
	}
	s.mu.Unlock()
	s.wake.Broadcast()
}

// Waiting is the number of held requests.
func (s *Service) Waiting() int { return int(s.parked.Load()) }

// Full tells that no more requests should be held.
func (s *Service) Full() bool { return s.Waiting() >= s.opts.MaxWaiters }

// Held lists who waits for a queue.
func (s *Service) Held(topic string, queueID int32) (list []Held) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if queue := s.queues[bucketKey{topic, queueID}]; queue != nil {
		for w := queue.head; w != nil; w = w.queueNext {
			list = append(list, Held{ConnID: w.ConnID, Group: w.Group, Offset: w.Offset})
		}
	}
	return list
}

// Nudge answers the pulls of a group that wait for a queue, as if their time was up, and returns
// how many there were.
func (s *Service) Nudge(topic string, queueID int32, group string) (nudged int) {
	s.mu.Lock()
	if queue := s.queues[bucketKey{topic, queueID}]; queue != nil {
		for w := queue.head; w != nil; {
			next := w.queueNext
			if w.Group == group {
				s.release(w, Nudged)
				nudged++
			}
			w = next
		}
	}
	s.mu.Unlock()
	s.wake.Broadcast()
	return nudged
}

// Park holds a waiter. The caller must look at the queue again afterwards and call
// Resume when it is no longer empty: a record may have arrived before the waiter stood
// in its list.
func (s *Service) Park(w *Waiter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuse(w) {
		return
	}
	key := bucketKey{w.Topic, w.QueueID}
	queue := s.queues[key]
	if queue == nil {
		queue = &bucket{key: key}
		s.queues[key] = queue
	}
	s.hold(w, queue)
}

// refuse sends a waiter back when nothing is held any more, and tells whether it has. s.mu is held.
func (s *Service) refuse(w *Waiter) bool {
	switch {
	case s.closed:
		w.state, w.reason = ready, Gone
	case s.stopping:
		w.state, w.reason = ready, Stopping
	default:
		return false
	}
	s.ready = append(s.ready, w)
	s.wake.Signal()
	return true
}

// hold puts a waiter into a queue's list. s.mu is held.
func (s *Service) hold(w *Waiter, queue *bucket) {
	queue.push(w)
	if head := s.conns[w.ConnID]; head != nil {
		head.connPrev, w.connNext = w, head
	}
	s.conns[w.ConnID] = w
	w.state = parked
	heap.Push(&s.due, w)
	s.parked.Add(1)
	if w.heapIndex == 0 {
		s.signalTimer()
	}
}

// Resume runs a request on the service's goroutines now, whether it is parked or was
// never parked. It does nothing for one that is on its way or has come back.
func (s *Service) Resume(w *Waiter) {
	s.mu.Lock()
	switch {
	case w.state == parked:
		s.release(w, Arrived)
	case w.state == idle:
		w.state, w.reason = ready, Arrived
		s.ready = append(s.ready, w)
	}
	s.mu.Unlock()
	s.wake.Signal()
}

// Arrived tells that a record became readable. It is the store's arrival hook: with
// nobody waiting it costs one atomic load.
func (s *Service) Arrived(a store.Arrival) {
	if s.parked.Load() == 0 {
		return
	}
	s.mu.Lock()
	released := 0
	if queue := s.queues[bucketKey{a.Topic, a.QueueID}]; queue != nil {
		for w := queue.head; w != nil; {
			next := w.queueNext
			if w.wants(a, s.opts.Records) {
				s.release(w, Arrived)
				released++
			}
			w = next
		}
	}
	released += s.serve(a)
	s.mu.Unlock()
	if released == 1 {
		s.wake.Signal()
	} else if released > 1 {
		s.wake.Broadcast()
	}
}

// ConnClosed drops what a connection was waiting for.
func (s *Service) ConnClosed(connID uint64) {
	s.mu.Lock()
	for w := s.conns[connID]; w != nil; w = s.conns[connID] {
		s.release(w, Gone)
	}
	s.mu.Unlock()
	s.wake.Broadcast()
}

// release moves a parked waiter to the ready list. s.mu is held.
func (s *Service) release(w *Waiter, reason Reason) {
	queue := w.queue
	queue.remove(w)
	if queue.line != nil {
		s.turns--
	}
	switch {
	case queue.head != nil:
	case queue.line != nil:
		s.shut(queue)
	default:
		delete(s.queues, queue.key)
	}
	if w.connPrev != nil {
		w.connPrev.connNext = w.connNext
	} else if w.connNext != nil {
		s.conns[w.ConnID] = w.connNext
	} else {
		delete(s.conns, w.ConnID)
	}
	if w.connNext != nil {
		w.connNext.connPrev = w.connPrev
	}
	w.connPrev, w.connNext = nil, nil
	heap.Remove(&s.due, w.heapIndex)
	w.state, w.reason = ready, reason
	s.parked.Add(-1)
	s.ready = append(s.ready, w)
	switch reason {
	case Arrived:
		s.woken.Add(1)
	case TimedOut:
		s.timedOut.Add(1)
	case Gone:
		s.dropped.Add(1)
	}
}

// worker resumes what is ready.
func (s *Service) worker() {
	defer s.wg.Done()
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		for len(s.ready) == 0 {
			if s.closed {
				return
			}
			s.wake.Wait()
		}
		batch := s.ready
		s.ready, s.spare = s.spare[:0], nil
		s.mu.Unlock()
		for i, w := range batch {
			s.run(w)
			batch[i] = nil
		}
		s.mu.Lock()
		if s.spare == nil {
			s.spare = batch[:0]
		}
	}
}

func (s *Service) run(w *Waiter) {
	defer func() {
		if p := recover(); p != nil {
			s.opts.Log.WithFields(logrus.Fields{
				"topic": w.Topic, "queueId": w.QueueID, "panic": p, "stack": string(debug.Stack()),
			}).Error("resumed pull panicked")
		}
	}()
	// Nothing changes a waiter that is ready, and it stays ready: whoever parked it may still
	// ask to resume it while it runs, or after.
	w.Resumer.Resume(w.reason)
}

// timer releases the waiters whose deadline is reached.
func (s *Service) timer() {
	defer s.wg.Done()
	alarm := s.opts.Wire.NewTimer()
	defer alarm.Disarm()
	for {
		next, closed := s.expire()
		if closed {
			return
		}
		clock.Rearm(alarm, next)
		select {
		case <-alarm.C():
		case <-s.kick:
		}
	}
}

// expire releases what is due and returns the next deadline.
func (s *Service) expire() (next int64, closed bool) {
	now := s.opts.Wire.NowMillis()
	released := false
	s.mu.Lock()
	for len(s.due) > 0 && s.due[0].Deadline <= now {
		s.release(s.due[0], TimedOut)
		released = true
	}
	next = clock.Never
	if len(s.due) > 0 {
		next = s.due[0].Deadline
	}
	closed = s.closed
	s.mu.Unlock()
	if released {
		s.wake.Broadcast()
	}
	return next, closed
}

func (s *Service) signalTimer() {
	select {
	case s.kick <- struct{}{}:
	default:
	}
}
