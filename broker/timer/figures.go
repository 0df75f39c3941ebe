package timer

import (
	"sync"

	wheel "github.com/wheelmq/wheelmq/store/timer"
)

// figuresWaitMs is how long who asks for figures waits for the service's lock, ms, before the last
// known ones have to do. Those who ask after it do not wait at all until the lock is free again.
const figuresWaitMs = 500

// figures are what metrics, health and tools show of the service, of one moment. They are not changed.
type figures struct {
	progress Progress
	untaken  int64
	inMemory int64
	waiting  int64 // due messages whose topic refuses them
	stats    wheel.Stats
	damaged  int64 // entries that were ever found missing
	topics   map[string]TopicPending
	flows    map[string]flow
	taking   int64  // how long the first message that is not taken in has waited, ms
	overdue  int64  // messages past due
	trouble  string // what is wrong with the messages that wait, or ""
}

// lookout keeps the last figures: whoever looks after the service must never wait for its driver,
// which may wait for a disk.
type lookout struct {
	mu   sync.Mutex // guards what follows; taken with the service's lock held, never the other way around
	last *figures
	next chan struct{} // closed when figures are there that nobody takes yet; nil: nobody waits
	late bool          // somebody has waited for next in vain

	closed bool // nobody begins to wait for the lock any more
	wg     sync.WaitGroup
}

// close returns when nobody waits for the service's lock on behalf of others.
func (o *lookout) close() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	o.wg.Wait()
}

// figures are those of now, or the last known when the driver does not give up the lock soon.
func (s *Service) figures() *figures {
	if s.mu.TryLock() {
		defer s.mu.Unlock()
		return s.takeFigures()
	}
	o := &s.lookout
	o.mu.Lock()
	if o.closed {
		defer o.mu.Unlock()
		return o.last
	}
	if o.next == nil {
		next := make(chan struct{})
		o.next = next
		o.wg.Go(func() { s.awaitFigures(next) })
	}
	next, late := o.next, o.late
	o.mu.Unlock()
	if !late && !s.waitFor(next) {
		o.mu.Lock()
		o.late = o.next == next
		o.mu.Unlock()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.last
}

// waitFor waits for a channel to be closed, and returns false when that takes too long.
func (s *Service) waitFor(done <-chan struct{}) bool {
	timer := s.opts.Wire.NewTimer()
	defer timer.Disarm()
	timer.Arm(s.opts.Wire.NowMillis() + figuresWaitMs)
	select {
	case <-done:
		return true
	case <-timer.C():
		return false
	}
}

// awaitFigures takes figures as soon as the lock is free, for all who wait by then.
func (s *Service) awaitFigures(done chan struct{}) {
	defer close(done)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lookout.mu.Lock()
	s.lookout.next, s.lookout.late = nil, false
	s.lookout.mu.Unlock()
	s.takeFigures()
}

// takeFigures looks everything up. The caller holds mu.
func (s *Service) takeFigures() *figures {
	now := s.opts.Store.NowMillis()
	f := &figures{
		progress: s.progressAt(now), untaken: s.untaken(), inMemory: int64(s.loaded + s.inFlight), waiting: s.waiting(),
		damaged: s.damagedThen + s.damage(), topics: s.pendingOf(), flows: s.flows(), trouble: s.trouble(now),
	}
	f.taking = s.waitsToBeTaken(now)
	f.overdue = s.waiting()
	for _, l := range s.lines {
		f.overdue += s.pastDue(l, s.nowOf(l, now))
		stats := l.t.Stats()
		f.stats.Near += stats.Near
		f.stats.Far += stats.Far
		f.stats.NearBytes += stats.NearBytes
		f.stats.FarBytes += stats.FarBytes
		f.stats.Files += stats.Files
	}
	s.lookout.mu.Lock()
	s.lookout.last = f
	s.lookout.mu.Unlock()
	return f
}
