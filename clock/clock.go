// Package clock is the only source of time that has meaning for messages.
//
// Broker and store never call time.Now: they are given a Clock. What belongs to
// the wire (socket idle, long-poll deadlines, heartbeats, queue locks,
// name-server liveness) uses a second Clock that is always the real one, so that
// turning message time in a test never makes a live client look dead.
package clock

import "math"

// Clock tells store time and wakes at instants of store time.
type Clock interface {
	// NowMillis is the current instant, ms since the Unix epoch.
	NowMillis() int64

	// NewTimer returns a timer that is not armed.
	NewTimer() Timer
}

// Timer wakes one goroutine at an instant of its Clock. Its methods belong to the
// goroutine that receives from C.
type Timer interface {
	// C receives one value when the armed instant is reached, never before it.
	C() <-chan struct{}

	// Arm replaces the awaited instant (ms since the Unix epoch). An instant that
	// has passed fires at once. A value of an earlier arming that was not received
	// is dropped.
	Arm(atMillis int64)

	// Disarm forgets the awaited instant and drops a value not yet received.
	Disarm()
}

// Never is an instant that does not come.
const Never = int64(math.MaxInt64)

// Rearm has a timer wait for an instant, ms since the Unix epoch, or for nothing when that is Never.
func Rearm(t Timer, atMillis int64) {
	if atMillis == Never {
		t.Disarm()
		return
	}
	t.Arm(atMillis)
}

// Ceil is the earliest whole millisecond not before the current instant: what is due a delay
// after it is never due early. NowMillis cuts off, which would be up to a millisecond early.
func Ceil(c Clock) int64 {
	if exact, ok := c.(interface{ ceilMillis() int64 }); ok {
		return exact.ceilMillis()
	}
	return c.NowMillis() + 1
}

// WallMillis is what the wall clock beside c reads, ms since the Unix epoch: c itself where c
// has no other.
func WallMillis(c Clock) int64 {
	if w, ok := c.(interface{ WallMillis() int64 }); ok {
		return w.WallMillis()
	}
	return c.NowMillis()
}
