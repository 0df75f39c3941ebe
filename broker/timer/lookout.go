package timer

import (
	"sync"

	"github.com/wheelmq/wheelmq/clock"
)

// figuresWaitMs is how long who asks for figures waits for the service's lock, ms, before the last
// known ones have to do. Those who ask after it do not wait at all until the lock is free again.
const figuresWaitMs = 500

// lookout keeps the last figures: whoever looks after the service must never wait for its driver,
// which may wait for a disk.
type lookout struct {
	state *state
	wire  clock.Clock
	take  func() *figures // looks everything up, with the state's lock held

	mu   sync.Mutex // guards what follows; taken with the state's lock held, never the other way around
	last *figures
	next chan struct{} // closed when figures are there that nobody takes yet; nil: nobody waits
	late bool          // somebody has waited for next in vain

	closed bool // nobody begins to wait for the lock any more
	wg     sync.WaitGroup
}

// close returns when nobody waits for the state's lock on behalf of others.
func (o *lookout) close() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	o.wg.Wait()
}

// figures are those of now, or the last known when the driver does not give up the lock soon.
func (o *lookout) figures() *figures {
	if o.state.mu.TryLock() {
		defer o.state.mu.Unlock()
		return o.look()
	}
	o.mu.Lock()
	if o.closed {
		defer o.mu.Unlock()
		return o.last
	}
	if o.next == nil {
		next := make(chan struct{})
		o.next = next
		o.wg.Go(func() { o.await(next) })
	}
	next, late := o.next, o.late
	o.mu.Unlock()
	if !late && !o.waitFor(next) {
		o.mu.Lock()
		o.late = o.next == next
		o.mu.Unlock()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.last
}

// waitFor waits for a channel to be closed, and returns false when that takes too long.
func (o *lookout) waitFor(done <-chan struct{}) bool {
	timer := o.wire.NewTimer()
	defer timer.Disarm()
	timer.Arm(o.wire.NowMillis() + figuresWaitMs)
	select {
	case <-done:
		return true
	case <-timer.C():
		return false
	}
}

// await takes figures as soon as the lock is free, for all who wait by then.
func (o *lookout) await(done chan struct{}) {
	defer close(done)
	o.state.mu.Lock()
	defer o.state.mu.Unlock()
	o.mu.Lock()
	o.next, o.late = nil, false
	o.mu.Unlock()
	o.look()
}

// look takes figures of now. The caller holds the state's lock.
func (o *lookout) look() *figures {
	f := o.take()
	o.mu.Lock()
	o.last = f
	o.mu.Unlock()
	return f
}
