package timer

import (
	wheel "github.com/wheelmq/wheelmq/store/timer"
)

const (
	// loadStep is how many entries are read into memory before those that are due have their turn.
	loadStep = 8192
	// loadRate is how many entries of a second are read in one, at least: a huge second is begun
	// with earlier.
	loadRate = 250_000
)

// loading is a second on its way into memory, of which every pass reads a part.
type loading struct {
	sec    *second
	reader *wheel.Reader
	far    bool // it has entries whose records the reader holds
}

// beginLoad begins to read a second, unless its files cannot be read yet.
func (s *Service) beginLoad(l *line, number int64) error {
	r, err := l.t.Read(number)
	if err != nil {
		return err
	}
	sec := newSecond(number)
	sec.loading = true
	if n := l.t.Count(number); n > 0 {
		sec.entries = make([]entry, 0, n)
	}
	l.loading = &loading{sec: sec, reader: r}
	return nil
}

// goOn reads at most so many entries, and returns how many more there might have been: 0 means that
// there is more to read. With exact instants asked for nothing else is done meanwhile.
func (s *Service) goOn(l *line, room int) (left int) {
	g := l.loading
	for ; room > 0 || s.opts.InOrder; room-- {
		item, ok := g.reader.Next()
		if !ok {
			s.endLoad(l)
			return room
		}
		g.far = g.far || item.Record != nil
		s.take(g.sec, &item)
	}
	return 0
}

// endLoad puts the second among those in memory. What is damaged in it is counted; the rest is
// delivered.
func (s *Service) endLoad(l *line) {
	g, sec := l.loading, l.loading.sec
	if err := g.reader.Err(); err != nil {
		s.repair(l, sec, g.reader, err)
	}
	if g.far {
		sec.reader = g.reader
	} else {
		g.reader.Close()
	}
	sec.loading, l.loading = false, nil
	for i := range sec.later {
		sec.add(&wheel.Item{Entry: sec.later[i]})
	}
	sec.later = nil
	s.superseding.hide(sec, l.wall)
	s.loaded += sec.left
	l.insert(sec)
	l.loadedTo = sec.number
	s.prefetch(sec)
}

// giveUp forgets the second that is being read: it is read again later.
func (l *line) giveUp() {
	if l.loading != nil {
		l.loading.reader.Close()
		l.loading = nil
	}
}

// loadFrom is the second of its clock at which a line begins to read one into memory.
func (l *line) loadFrom(number int64) int64 {
	return number - aheadSeconds - l.t.Count(number)/loadRate
}
