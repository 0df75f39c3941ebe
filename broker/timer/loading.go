package timer

import (
	"errors"
	"slices"

	"github.com/wheelmq/wheelmq/store"
	wheel "github.com/wheelmq/wheelmq/store/timer"
)

const (
	// loadStep is how many entries are read into memory before those that are due have their turn.
	loadStep = 8192
	// loadRate is how many entries of a second are read in one, at least: a huge second is begun
	// with earlier.
	loadRate = 250_000
	// browseSeconds is how many seconds of an hour that cannot be sorted are read in one go through
	// its files, and browseBytes bounds the memory that takes, unless one second takes more.
	browseSeconds = 60
	browseBytes   = 64 << 20
)

// loading is what is on its way into memory, of which every pass reads a part: one second, or a
// few of an hour that cannot be sorted.
type loading struct {
	from    int64     // the first second's number
	seconds []*second // nil: it is in memory already
	reader  *wheel.Reader
	browser *wheel.Browser // of several; nil: there is a reader
	far     bool           // the reader holds records
	bytes   int64          // of records that were copied
}

// beginLoad begins to read a second, unless its files cannot be read yet.
func (o *loader) beginLoad(l *line, number int64) error {
	r, err := l.t.Read(number)
	if errors.Is(err, wheel.ErrNotReady) && l.sortError != nil && number < l.t.NearEnd() {
		o.beginBrowse(l, number)
		return nil
	}
	if err != nil {
		return err
	}
	sec := newSecond(number)
	sec.loading = true
	if n := l.t.Count(number); n > 0 {
		sec.entries = make([]entry, 0, n)
	}
	l.loading = &loading{from: number, seconds: []*second{sec}, reader: r}
	return nil
}

// beginBrowse begins to read what comes next of an hour that cannot be sorted, because of a full
// disk: nobody has to wait for that.
func (o *loader) beginBrowse(l *line, number int64) {
	end := min(number+browseSeconds, l.t.NearEnd())
	g := &loading{from: number, browser: l.t.Browse(number, end)}
	if g.browser != nil {
		end = min(end, g.browser.To)
	}
	for ; number < end; number++ {
		var sec *second
		if l.find(number) == nil {
			sec = newSecond(number)
			sec.loading = true
		}
		g.seconds = append(g.seconds, sec)
	}
	l.loading = g
}

// second is the one with a number, nil when it is not read here.
func (g *loading) second(number int64) *second {
	if number < g.from || number >= g.from+int64(len(g.seconds)) {
		return nil
	}
	return g.seconds[number-g.from]
}

func (g *loading) next() (number int64, item wheel.Item, ok bool) {
	if g.reader != nil {
		item, ok = g.reader.Next()
		return g.from, item, ok
	}
	if g.browser != nil {
		return g.browser.Next()
	}
	return 0, item, false
}

// keep copies the record of a browsed entry, and leaves the last seconds for another time when that
// is too much.
func (g *loading) keep(sec *second, item *wheel.Item) {
	item.Record = slices.Clone(item.Record)
	sec.copied += int64(len(item.Record))
	g.bytes += int64(len(item.Record))
	for g.bytes > browseBytes && len(g.seconds) > 1 {
		half := (len(g.seconds) + 1) / 2
		for _, left := range g.seconds[half:] {
			if left != nil {
				g.bytes -= left.copied
			}
		}
		clear(g.seconds[half:])
		g.seconds = g.seconds[:half]
	}
}

// goOn reads at most so many entries, and returns how many more there might have been: 0 means that
// there is more to read. With exact instants asked for nothing else is done meanwhile.
func (o *loader) goOn(l *line, room int) (left int) {
	g := l.loading
	defer func() {
		if p := recover(); p != nil {
			l.giveUp()
			o.cannotRead(l, g.from, store.FaultOf(p))
			left = 0
		}
	}()
	for ; room > 0 || o.inOrder; room-- {
		number, item, ok := g.next()
		if !ok {
			if !o.endLoad(l) {
				return 0
			}
			return room
		}
		sec := g.second(number)
		if sec == nil {
			continue
		}
		if item.Record != nil {
			if g.far = true; g.browser != nil {
				g.keep(sec, &item)
			}
		}
		o.records.take(sec, &item)
	}
	return 0
}

// endLoad puts what was read among the seconds in memory. What is damaged in it is counted; the
// rest is delivered. Files that could not be read for another reason are read again: false.
func (o *loader) endLoad(l *line) (loaded bool) {
	g := l.loading
	if g.reader != nil && g.reader.Hole().Unread != nil {
		l.giveUp()
		o.cannotRead(l, g.from, g.reader.Hole().Unread)
		return false
	}
	o.repairLoaded(l, g)
	switch {
	case g.reader != nil && g.far:
		g.seconds[0].reader = g.reader
	case g.reader != nil:
		g.reader.Close()
	case g.browser != nil:
		g.browser.Close()
	}
	l.loading = nil
	for _, sec := range g.seconds {
		if sec != nil {
			o.loadedNow(l, sec)
		}
	}
	l.loadedTo = g.from + int64(len(g.seconds)) - 1
	if g.reader == nil {
		l.browsed.add(g.from, l.loadedTo)
	}
	return true
}

// loadedNow takes in a second that is in memory now, and what came for it meanwhile.
func (o *loader) loadedNow(l *line, sec *second) {
	sec.loading = false
	for i := range sec.later {
		sec.add(&wheel.Item{Entry: sec.later[i]})
	}
	sec.later = nil
	o.state.superseding.hide(sec, l.wall)
	o.state.loaded += sec.left
	l.insert(sec)
	o.prefetcher.prefetch(sec)
}

// giveUp forgets what is being read: it is read again later.
func (l *line) giveUp() {
	g := l.loading
	if l.loading = nil; g == nil {
		return
	}
	if g.reader != nil {
		g.reader.Close()
	}
	if g.browser != nil {
		g.browser.Close()
	}
}

// loadFrom is the second of its clock at which a line begins to read one into memory.
func (l *line) loadFrom(number int64) int64 {
	return number - aheadSeconds - l.t.Count(number)/loadRate
}
