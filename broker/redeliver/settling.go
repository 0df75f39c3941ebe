package redeliver

import (
	"context"
	"errors"
)

// ErrClosed is returned to those who wait for a driver that has stopped.
var ErrClosed = errors.New("closed")

// Settling is how others wait until a driver has delivered everything that is due. Wait is safe for
// concurrent use; the rest belongs to the driver.
type Settling struct {
	asks    chan chan int64
	waiting []chan int64
}

// NewSettling returns a Settling that nobody waits on.
func NewSettling() Settling { return Settling{asks: make(chan chan int64)} }

// Wait returns what the driver answers; ErrClosed when it has stopped, which stop tells.
func (s *Settling) Wait(ctx context.Context, stop <-chan struct{}) (next int64, err error) {
	answer := make(chan int64, 1)
	select {
	case s.asks <- answer:
	case <-stop:
		return 0, ErrClosed
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	select {
	case next := <-answer:
		return next, nil
	case <-stop:
		return 0, ErrClosed
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// Asks receives who waits from now on; the driver keeps it with Hear, and makes a whole pass before
// it answers.
func (s *Settling) Asks() <-chan chan int64 { return s.asks }

// Hear notes one who waits.
func (s *Settling) Hear(answer chan int64) { s.waiting = append(s.waiting, answer) }

// Answer tells all who wait when there is something to do again.
func (s *Settling) Answer(next int64) {
	for _, answer := range s.waiting {
		answer <- next
	}
	s.waiting = s.waiting[:0]
}

// Stopped tells whether a driver is to stop, between two passes.
func Stopped(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}
