package redeliver

import (
	"context"
	"errors"

	"github.com/wheelmq/wheelmq/clock"
)

// ErrClosed is returned to those who wait for a driver that has stopped.
var ErrClosed = errors.New("closed")

// Driver is how a goroutine that does what is due sleeps in between, is woken, and tells others when
// nothing is left to be done. Wake and Settle are safe for concurrent use; the rest belongs to the
// goroutine.
type Driver struct {
	kick    chan struct{}
	stop    <-chan struct{}
	asks    chan chan int64
	waiting []chan int64
}

// NewDriver returns a Driver that ends when stop is closed.
func NewDriver(stop <-chan struct{}) Driver {
	return Driver{kick: make(chan struct{}, 1), stop: stop, asks: make(chan chan int64)}
}

// Wake ends the driver's sleep, or its next one. It is quick.
func (d *Driver) Wake() {
	select {
	case d.kick <- struct{}{}:
	default:
	}
}

// Settle returns what the driver answers after a whole pass that began when Settle had been called;
// ErrClosed when the driver has ended.
func (d *Driver) Settle(ctx context.Context) (next int64, err error) {
	answer := make(chan int64, 1)
	select {
	case d.asks <- answer:
	case <-d.stop:
		return 0, ErrClosed
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	select {
	case next := <-answer:
		return next, nil
	case <-d.stop:
		return 0, ErrClosed
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// Answer tells all who wait that nothing is left to be done before next.
func (d *Driver) Answer(next int64) {
	for _, answer := range d.waiting {
		answer <- next
	}
	d.waiting = d.waiting[:0]
}

// Sleep returns when a timer fires, or somebody wakes the driver or waits for it, who is answered after
// the next pass; stopped: the driver is to end. The second timer may be nil.
func (d *Driver) Sleep(first, second clock.Timer) (stopped bool) {
	var other <-chan struct{}
	if second != nil {
		other = second.C()
	}
	select {
	case <-first.C():
	case <-other:
	case <-d.kick:
	case answer := <-d.asks:
		d.waiting = append(d.waiting, answer)
	case <-d.stop:
		return true
	}
	return false
}

// Stopped tells whether the driver is to end, between two passes.
func (d *Driver) Stopped() bool {
	select {
	case <-d.stop:
		return true
	default:
		return false
	}
}
