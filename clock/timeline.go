package clock

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"
)

const (
	lookEvery = time.Second // how soon a suspend or a step is noticed
	saveEvery = time.Minute // how old the saved instant is at most
	stepNs    = int64(time.Second)
	slackNs   = int64(2 * time.Millisecond) // nearer than this to the wall is near enough
	// maxRate is how much faster or slower than the machine's monotonic clock the timeline
	// may run while it follows the wall, ns per second: 500 ppm.
	maxRate = 500_000
)

// TimelineOptions configure a Timeline.
type TimelineOptions struct {
	// File is where the timeline's place between the machine's clocks is kept,
	// config/wheelmqClock.json in a store directory. "" keeps nothing.
	File string
	Log  logrus.FieldLogger
	// Wall reads the wall clock; nil: the machine's. Tests step it.
	Wall func() time.Time
}

// Timeline is the Clock of real message time. It runs at the rate of the machine's monotonic
// clock and goes on while the machine is suspended, so that steps of the wall clock neither
// deliver early nor hold back: a delay of 10 s takes 10 s. It begins where the wall is.
//
// A step of the wall of more than a second is logged and changes nothing but WallOffset. Less
// than that is taken for drift and followed, by at most 500 ppm (half a millisecond a
// second). Where the timeline stands is kept in a file: a start in the same boot of the
// machine goes on from the boot's clock, whatever the wall has done; a start after another
// boot knows only the wall, and begins at the distance to it that was kept, but never before
// the last instant that was.
//
// Only on Linux are suspends and boots known; elsewhere a suspend is a step of the wall.
type Timeline struct {
	opts   TimelineOptions
	src    sources
	anchor atomic.Pointer[anchor]

	mu         sync.Mutex // guards all below; held over nothing that waits
	lead       int64      // the boot's clock less the monotonic one, ns: grows with every suspend
	wallOffset int64      // what the wall is kept ahead of the timeline, ns
	timers     map[*timelineTimer]struct{}

	saveErr atomic.Pointer[error]
	stop    chan struct{}
	wg      sync.WaitGroup
}

// anchor is a point that the timeline passes through, and how it runs from there.
type anchor struct {
	mono, store int64 // ns
	rate        int64 // beyond the monotonic clock's for one second, ns
}

func (a *anchor) at(mono int64) int64 {
	elapsed := mono - a.mono
	if a.rate == 0 {
		return a.store + elapsed
	}
	return a.store + elapsed + min(elapsed, int64(time.Second))*a.rate/int64(time.Second)
}

// OpenTimeline puts a timeline where the file says, without writing to it.
func OpenTimeline(opts TimelineOptions) *Timeline {
	return openTimeline(opts, machine(opts.Wall))
}

func openTimeline(opts TimelineOptions, src sources) *Timeline {
	l := &Timeline{opts: opts, src: src, timers: make(map[*timelineTimer]struct{}), stop: make(chan struct{})}
	r := src.read()
	store := r.wall
	if saved, ok := l.load(); ok {
		store = saved.resume(r, src.bootID)
		l.wallOffset = saved.WallOffset
	}
	l.lead = r.boot - r.mono
	l.anchor.Store(&anchor{mono: r.mono, store: store})
	l.look()
	return l
}

// Start keeps where the timeline is and begins to watch the machine's clocks. On a full disk
// nothing is kept, which SaveError tells.
func (l *Timeline) Start() {
	l.keep()
	l.wg.Add(1)
	go l.watch()
}

func (l *Timeline) keep() {
	if err := l.save(); err != nil {
		l.opts.Log.WithError(err).Error("the place of store time is not kept: a restart may move it")
	}
}

// farthest is how far ahead NotBefore goes: what lies beyond is damage, not time.
const farthest = 366 * 24 * time.Hour

// NotBefore takes the timeline to an instant that message time has reached already, ms, when
// it is behind it: when its file is lost and the wall was set back, or with a store of another
// machine. It is called before Start.
func (l *Timeline) NotBefore(atMillis int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	mono := l.src.mono()
	now := l.anchor.Load().at(mono)
	behindMs := atMillis - now/int64(time.Millisecond)
	if behindMs <= 0 {
		return
	}
	entry := l.opts.Log.WithFields(logrus.Fields{"reached": atMillis, "now": now / int64(time.Millisecond)})
	if behindMs > farthest.Milliseconds() {
		entry.Error("the store has records of a far future: message time does not follow them")
		return
	}
	entry.Warn("the store has been ahead of the wall clock: message time goes on from there")
	behind := behindMs * int64(time.Millisecond)
	l.anchor.Store(&anchor{mono: mono, store: now + behind})
	l.wallOffset -= behind
}

// Close stops watching and keeps where the timeline is.
func (l *Timeline) Close() error {
	close(l.stop)
	l.wg.Wait()
	return l.save()
}

func (l *Timeline) watch() {
	defer l.wg.Done()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var saved int64
	for {
		select {
		case <-tick.C:
		case <-l.stop:
			return
		}
		stepped := l.look()
		if now := l.src.mono(); stepped || now-saved >= int64(saveEvery) {
			l.keep()
			saved = now
		}
	}
}

// look compares the machine's clocks: it makes up for a suspend, notices a step of the wall
// and chooses the rate for the next second.
func (l *Timeline) look() (stepped bool) {
	r := l.src.read()
	l.mu.Lock()
	defer l.mu.Unlock()
	old := l.anchor.Load()
	suspended := max(0, r.boot-r.mono-l.lead)
	l.lead += suspended
	next := &anchor{mono: r.mono, store: old.at(r.mono) + suspended}
	offset := r.wall - next.store
	switch drift := offset - l.wallOffset; {
	case drift > stepNs || drift < -stepNs:
		l.noteStep(r.wall, next.store, drift)
		l.wallOffset = offset
		stepped = true
	case drift > slackNs || drift < -slackNs:
		next.rate = min(max(drift, -maxRate), maxRate)
	}
	if suspended > 0 || next.rate != 0 || old.rate != 0 {
		l.anchor.Store(next)
		for t := range l.timers {
			t.sleep()
		}
	}
	return stepped
}

func (l *Timeline) noteStep(wall, store, step int64) {
	l.opts.Log.WithFields(logrus.Fields{
		"wall": time.Unix(0, wall).UTC().Format(time.RFC3339Nano), "store": time.Unix(0, store).UTC().Format(time.RFC3339Nano),
		"stepMs": step / int64(time.Millisecond),
	}).Warn("the wall clock was stepped: store time goes on as before, and so do delays")
}

func (l *Timeline) nanos() int64 { return l.anchor.Load().at(l.src.mono()) }

// NowMillis implements Clock.
func (l *Timeline) NowMillis() int64 { return l.nanos() / int64(time.Millisecond) }

func (l *Timeline) ceilMillis() int64 {
	return (l.nanos() + int64(time.Millisecond) - 1) / int64(time.Millisecond)
}

// WallMillis is what the wall clock reads, ms since the Unix epoch.
func (l *Timeline) WallMillis() int64 { return l.src.wall() / int64(time.Millisecond) }

// WallOffset is what the wall clock is ahead of the timeline: the sum of the wall's steps
// since the timeline began, and drift that has still to be followed.
func (l *Timeline) WallOffset() time.Duration { return time.Duration(l.src.wall() - l.nanos()) }

// SaveError is why the place of the timeline could not be kept the last time, or nil.
func (l *Timeline) SaveError() error {
	if err := l.saveErr.Load(); err != nil {
		return *err
	}
	return nil
}
