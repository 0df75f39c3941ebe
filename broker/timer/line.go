package timer

import (
	"sort"

	"github.com/wheelmq/wheelmq/clock"
	wheel "github.com/wheelmq/wheelmq/store/timer"
)

// line is one Timeline with what is loaded of it.
type line struct {
	name  string
	clock clock.Clock // of messages
	wall  bool        // the wall's clock decides, not message time
	t     *wheel.Timeline

	loaded  []*second // by number
	loading *loading  // the next ones, on their way into memory; nil: none is
	// loadedTo is the last second of which everything is in memory, like of all before it.
	loadedTo   int64
	browsed    browsedSeconds
	doneBefore int64  // no second below is begun: a run before this one has ended them
	preparedAt int64  // second at which the Timeline was prepared last
	notReady   bool   // the next second cannot be read yet
	blocked    string // why the next second cannot be read, or ""
	jobEnded   bool   // since the Timeline was prepared
	jobError   error  // of the last job
	sortError  error  // of the last job that sorts
	jobs       int    // given out
	far, farAt int64  // the first instant of what is not sorted, ms; the progress at which it was
}

// wallClock tells whether a clock has another wall than itself.
func wallClock(c clock.Clock) bool {
	_, ok := c.(interface{ WallMillis() int64 })
	return ok
}

// now is the instant of the line's clock, ms, when message time is now.
func (l *line) now(now int64) int64 {
	if l.wall {
		return clock.WallMillis(l.clock)
	}
	return now
}

// toStore is the instant of message time, ms, at which a line's clock reaches one of its own, if
// both go on as they do.
func toStore(at, lineNow, now int64) int64 {
	if at == never || at-lineNow > never-now {
		return never
	}
	return now + at - lineNow
}

// next is the next second that has entries and is not in memory.
func (l *line) next() (number int64, ok bool) {
	return l.t.NextFrom(max(l.t.Hand(), l.loadedTo+1))
}

// find is the loaded second with a number, or nil.
func (l *line) find(number int64) *second {
	if n := len(l.loaded); n == 0 || l.loaded[n-1].number < number {
		return nil
	}
	i := l.place(number)
	if i < len(l.loaded) && l.loaded[i].number == number {
		return l.loaded[i]
	}
	return nil
}

func (l *line) place(number int64) int {
	return sort.Search(len(l.loaded), func(i int) bool { return l.loaded[i].number >= number })
}

// insert puts a second among the loaded ones.
func (l *line) insert(sec *second) {
	i := l.place(sec.number)
	l.loaded = append(l.loaded, nil)
	copy(l.loaded[i+1:], l.loaded[i:])
	l.loaded[i] = sec
}

// live is the second in memory that takes an arrival, nil when it is read later.
func (l *line) live(number int64) *second {
	if sec := l.find(number); sec != nil {
		return sec
	}
	if l.loading != nil {
		if sec := l.loading.second(number); sec != nil {
			return sec
		}
	}
	if number > l.loadedTo {
		return nil
	}
	sec := newSecond(number)
	l.insert(sec)
	return sec
}

// turnBack follows a wall that was set back: what comes from now on may be due before what is
// done. What is loaded stays loaded and waits.
func (l *line) turnBack(lineNow int64) {
	if now := lineNow / 1000; now < l.t.Hand() {
		l.t.Back(now)
		l.giveUp()
		l.loadedTo = min(l.loadedTo, now-1)
	}
}
