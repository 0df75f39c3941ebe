package timer

import (
	"fmt"

	"github.com/sirupsen/logrus"
)

// runReader gives the records of one part of a run. They stay mapped until it is closed.
type runReader struct {
	far     *far
	part    stretch
	source  source
	cursor  *cursor
	places  []damage
	ended   bool
	missing error
	around  claim // what was read, and where damage is between
	lost    Hole
}

// read implements farPart.
func (f *far) read(second int64) (farReader, error) {
	hour := hourBucket(second)
	if _, _, ok := f.ofDay(hour); ok || len(f.segments[hour])+len(f.segments[dayBucket(second)]) > 0 {
		return nil, fmt.Errorf("%w: %s", ErrNotReady, hour)
	}
	r := f.hours[hour.n]
	if r == nil {
		return nil, nil
	}
	s, ok := r.stretch(hour.part(second))
	if !ok {
		return nil, nil
	}
	reader := &runReader{far: f, part: s, source: r.source(s), around: claim{maxLog: -1}}
	reader.cursor = reader.source.cursor()
	reader.cursor.passing = false
	reader.cursor.damage = func(pos, n int64) {
		x := &reader.source.extent
		reader.places = append(reader.places, damage{x.file(pos), pos % x.chunk, n})
		reader.around.damaged()
	}
	return reader, nil
}

// next implements farReader.
func (r *runReader) next() (Item, bool) {
	var s stored
	if r.ended {
		return Item{}, false
	}
	if r.cursor.next(&s) {
		r.around.sound(s.LogOffset)
		return Item{Entry: s.Entry, Record: s.record()}, true
	}
	r.end()
	return Item{}, false
}

// end finds out what is missing.
func (r *runReader) end() {
	r.ended = true
	c := r.cursor
	if c.failed != nil {
		r.missing, r.lost.Unread = c.failed, c.failed
		return
	}
	lost := r.part.count - c.found - c.cut
	if lost <= 0 {
		return
	}
	r.missing = fmt.Errorf("%w: %d of %d records of %s are missing", ErrDamaged, lost, r.part.count, r.source.extent.name)
	r.far.report(r.places, lost, damage{file: r.source.extent.name, at: r.part.part})
	r.noteHole(lost)
}

// noteHole notes where in the log the records lie that damage has taken: all that the run has lie below
// an end, and within a second they mostly come as they lie in the log.
func (r *runReader) noteHole(lost int64) {
	end := min(r.source.claims.highest()+1, r.source.below)
	if r.around.bad {
		r.around.end(end - 1)
	}
	r.lost.Count, r.lost.Bounds = lost, Between{-1, end}
	for _, g := range r.around.gaps {
		r.lost.Likely = append(r.lost.Likely, Between{g.after, g.before})
	}
}

// hole implements farReader.
func (r *runReader) hole() Hole { return r.lost }

// inOrder implements farReader.
func (r *runReader) inOrder() bool { return r.part.ordered }

// err implements farReader.
func (r *runReader) err() error { return r.missing }

// close implements farReader.
func (r *runReader) close() {
	r.ended = true
	r.source.extent.close()
}

// maxReports bounds how many places of damage are logged and remembered.
const maxReports = 1000

// damage is a place where no sound record lies.
type damage struct {
	file  string
	at    int64 // in the file, bytes
	bytes int64
}

// report logs places where no sound record lies and counts the records that are lost, once for
// what they were found in.
func (f *far) report(places []damage, lost int64, in damage) {
	if f.reported[in] {
		return
	}
	if len(f.reported) < maxReports {
		f.reported[in] = true
		for _, d := range places[:min(len(places), maxReports)] {
			f.opts.Log.WithFields(logrus.Fields{"file": d.file, "offset": d.at, "bytes": d.bytes}).
				Error("damaged: no pending message can be read there")
		}
		f.opts.Log.WithFields(logrus.Fields{"in": in.file, "messages": lost}).Error("pending messages are lost to damage")
	}
	f.damaged += lost
}
