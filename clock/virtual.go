package clock

import "sync"

// Virtual is a Clock that moves only when told.
type Virtual struct {
	mu     sync.Mutex // guards now and timers
	now    int64
	timers map[*virtualTimer]struct{}
}

// NewVirtual returns a Virtual clock that stands at startMillis.
func NewVirtual(startMillis int64) *Virtual {
	return &Virtual{now: startMillis, timers: make(map[*virtualTimer]struct{})}
}

// NowMillis implements Clock.
func (v *Virtual) NowMillis() int64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.now
}

// ceilMillis is exact: a virtual clock stands on whole milliseconds.
func (v *Virtual) ceilMillis() int64 { return v.NowMillis() }

// NewTimer implements Clock.
func (v *Virtual) NewTimer() Timer {
	return &virtualTimer{clock: v, c: make(chan struct{}, 1)}
}

// Begin puts the clock where a store's time stood, which may be before where it is. It is called
// before anybody waits for an instant of the clock.
func (v *Virtual) Begin(atMillis int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.now = atMillis
}

// Set moves the clock to atMillis and fires every timer whose instant is reached.
// It never moves backwards.
func (v *Virtual) Set(atMillis int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if atMillis <= v.now {
		return
	}
	v.now = atMillis
	for t := range v.timers {
		if t.at <= v.now {
			delete(v.timers, t)
			t.fire()
		}
	}
}

// Next is the earliest armed instant, and false when no timer is armed.
func (v *Virtual) Next() (atMillis int64, armed bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for t := range v.timers {
		if !armed || t.at < atMillis {
			atMillis, armed = t.at, true
		}
	}
	return atMillis, armed
}

type virtualTimer struct {
	clock *Virtual
	c     chan struct{}
	at    int64 // guarded by clock.mu
}

func (t *virtualTimer) C() <-chan struct{} { return t.c }

func (t *virtualTimer) fire() {
	select {
	case t.c <- struct{}{}:
	default:
	}
}

func (t *virtualTimer) drain() {
	select {
	case <-t.c:
	default:
	}
}

func (t *virtualTimer) Arm(atMillis int64) {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	t.drain()
	if atMillis <= t.clock.now {
		delete(t.clock.timers, t)
		t.fire()
		return
	}
	t.at = atMillis
	t.clock.timers[t] = struct{}{}
}

func (t *virtualTimer) Disarm() {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	delete(t.clock.timers, t)
	t.drain()
}
