package clock

import "time"

// Real is the machine's clock.
type Real struct{}

// NowMillis implements Clock.
func (Real) NowMillis() int64 { return time.Now().UnixMilli() }

func (Real) ceilMillis() int64 {
	return time.Now().Add(time.Millisecond - time.Nanosecond).UnixMilli()
}

// NewTimer implements Clock.
func (Real) NewTimer() Timer {
	t := &realTimer{c: make(chan struct{}, 1)}
	t.timer = time.AfterFunc(time.Hour, t.fire)
	t.timer.Stop()
	return t
}

// realTimer counts the runtime's monotonic time from the moment it was armed. When
// the wall clock is stepped back meanwhile it fires before the wall reads the awaited
// instant: a scheduler compares NowMillis with what it waits for and arms again.
type realTimer struct {
	c     chan struct{}
	timer *time.Timer
}

func (t *realTimer) C() <-chan struct{} { return t.c }

func (t *realTimer) fire() {
	select {
	case t.c <- struct{}{}:
	default:
	}
}

func (t *realTimer) Arm(atMillis int64) {
	t.Disarm()
	wait := time.Until(time.UnixMilli(atMillis))
	if wait <= 0 {
		t.fire()
		return
	}
	t.timer.Reset(wait)
}

func (t *realTimer) Disarm() {
	t.timer.Stop()
	select {
	case <-t.c:
	default:
	}
}
