package clock

import "time"

// maxSleep bounds one sleep of a timer, so that no instant is too far to count in ns.
const maxSleep = 24 * time.Hour

// NewTimer implements Clock.
func (l *Timeline) NewTimer() Timer {
	t := &timelineTimer{line: l, c: make(chan struct{}, 1)}
	t.timer = time.AfterFunc(time.Hour, t.awake)
	t.timer.Stop()
	return t
}

// timelineTimer sleeps on the runtime's monotonic clock and looks at the timeline when it
// wakes. The timeline calls sleep again when it has changed its course.
type timelineTimer struct {
	line  *Timeline
	c     chan struct{}
	timer *time.Timer
	at    int64 // ms; guarded by line.mu
}

func (t *timelineTimer) C() <-chan struct{} { return t.c }

func (t *timelineTimer) Arm(atMillis int64) {
	t.line.mu.Lock()
	defer t.line.mu.Unlock()
	t.forget()
	t.at = atMillis
	t.line.timers[t] = struct{}{}
	t.sleep()
}

func (t *timelineTimer) Disarm() {
	t.line.mu.Lock()
	defer t.line.mu.Unlock()
	t.forget()
}

func (t *timelineTimer) awake() {
	t.line.mu.Lock()
	defer t.line.mu.Unlock()
	if _, armed := t.line.timers[t]; armed {
		t.sleep()
	}
}

// sleep fires the armed timer if its instant is reached, and otherwise waits for it. line.mu
// is held.
func (t *timelineTimer) sleep() {
	now := t.line.nanos()
	if now/int64(time.Millisecond) >= t.at {
		t.forget()
		t.c <- struct{}{}
		return
	}
	wait := maxSleep
	if t.at-now/int64(time.Millisecond) < maxSleep.Milliseconds() {
		wait = time.Duration(t.at*int64(time.Millisecond) - now)
	}
	t.timer.Reset(wait)
}

// forget disarms and drops a value that was not received; then c has room for one. line.mu is
// held.
func (t *timelineTimer) forget() {
	t.timer.Stop()
	delete(t.line.timers, t)
	select {
	case <-t.c:
	default:
	}
}
