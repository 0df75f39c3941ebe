package timer

import (
	"errors"
	"fmt"
	"math"
	"path"
	"sync/atomic"

	"github.com/wheelmq/wheelmq/store/region"
)

// errStopped ends a job that is not wanted any more.
var errStopped = errors.New("timer: the job was stopped")

// sortJob makes the run of a closed bucket out of its segments, and of what an earlier run or the
// run of its day has of it. It shares nothing that changes with its owner.
type sortJob struct {
	bucket  bucket
	id      uint64 // of the run
	sources []source
	records int64
	out     extent
	tally   bool // count records by second
	stop    atomic.Bool

	made   *run
	damage []damage
	lost   int64
	gaps   []gap                             // of the log, where those that are lost lie
	had    *Lost                             // nil: nothing is lost
	counts map[int64]*[secondsPerHour]uint32 // by hour
}

// Run implements Job. When it fails there is nothing left of what it made.
func (j *sortJob) Run() (err error) {
	defer func() {
		j.out.close()
		for i := range j.sources {
			j.sources[i].extent.close()
		}
		// Also when a fault of a file that was cut from outside ends it.
		if j.made == nil {
			err = errors.Join(err, j.undo())
		}
	}()
	if err := j.run(); err != nil {
		return fmt.Errorf("timer: sort %s: %w", j.bucket, err)
	}
	return nil
}

// undo removes what a Run made that failed.
func (j *sortJob) undo() error {
	made := removal{found{bucket: j.bucket, kind: runKind, id: j.id}, j.out.name, j.out.reserved/j.out.chunk + 1}
	return removeMade(j.out.fs, path.Dir(j.out.name), []removal{made})
}

// Sorts implements Job.
func (j *sortJob) Sorts() bool { return true }

// Stop implements Job.
func (j *sortJob) Stop() { j.stop.Store(true) }

func (j *sortJob) run() error {
	if err := j.room(); err != nil {
		return err
	}
	plan := newLayout(j.bucket, j.records)
	made := &run{bucket: j.bucket, id: j.id, below: math.MaxInt64, x: j.out.apart()}
	j.damage, j.lost, j.gaps, j.had = nil, 0, nil, nil
	if err := j.count(plan, made); err != nil {
		return err
	}
	plan.place()
	made.parts, made.length = plan.stretches(), plan.total
	if err := j.out.reserve(plan.total); err != nil {
		return err
	}
	for i := range j.sources {
		if err := j.each(j.sources[i].cursor(), func(s *stored) error { return j.move(plan, s) }); err != nil {
			return err
		}
	}
	if err := j.save(made); err != nil {
		return err
	}
	if j.lost > 0 {
		if err := j.findLost(made); err != nil {
			return err
		}
	}
	j.made = made
	return nil
}

// room refuses before anything is read what cannot be written: it is tried again and again.
func (j *sortJob) room() error {
	need := int64(0)
	for i := range j.sources {
		need += j.sources[i].to - j.sources[i].from
	}
	if space, err := j.out.fs.Space(); err == nil && space.Free < need {
		return fmt.Errorf("timer: %d bytes for %s: %w", need, j.out.name, region.ErrNoSpace)
	}
	return nil
}

// count reads all records into the plan, and finds out what is damaged.
func (j *sortJob) count(plan *layout, made *run) error {
	for i := range j.sources {
		from := &j.sources[i]
		c := from.cursor()
		got := claim{maxLog: -1}
		c.damage = func(pos, n int64) {
			j.damage = append(j.damage, damage{from.extent.file(pos), pos % from.extent.chunk, n})
			got.damaged()
		}
		err := j.each(c, func(s *stored) error {
			got.sound(s.LogOffset)
			plan.count(s)
			return nil
		})
		if err != nil {
			return err
		}
		lost := max(0, from.count-c.found-c.cut)
		j.lost += lost
		j.noteGaps(from, got, lost)
		if from.sorted {
			made.claims = made.claims.with(from.claims...)
			continue
		}
		got.end(from.maxLog)
		made.claims = made.claims.with(got)
	}
	return nil
}

// each calls fn for every sound record of a source in order.
func (j *sortJob) each(c *cursor, fn func(*stored) error) error {
	defer c.x.close()
	var s stored
	for n := 0; c.next(&s); n++ {
		if n%1024 == 0 && j.stop.Load() {
			return errStopped
		}
		if !j.bucket.has(s.slot) {
			c.found-- // it is sound, but not of here
			continue
		}
		if err := fn(&s); err != nil {
			return err
		}
	}
	return c.failed
}

// move copies a record to its place in the run.
func (j *sortJob) move(plan *layout, s *stored) error {
	pos, ok := plan.take(s)
	if !ok {
		return fmt.Errorf("%w: files changed while they were read", ErrDamaged)
	}
	if j.tally {
		hour := s.slot / secondsPerHour
		if j.counts[hour] == nil {
			j.counts[hour] = new([secondsPerHour]uint32)
		}
		j.counts[hour][s.slot%secondsPerHour]++
	}
	n := int64(len(s.b))
	b, err := j.out.direct(pos, n)
	if err != nil {
		return err
	}
	if b != nil {
		moveStored(b, s, j.id, pos)
		return nil
	}
	b = make([]byte, n)
	moveStored(b, s, j.id, pos)
	return j.out.write(pos, b)
}

// save makes the run durable, and then its index.
func (j *sortJob) save(made *run) error {
	if err := j.out.sync(0, made.length); err != nil {
		return err
	}
	if err := j.out.fs.SyncDir(path.Dir(j.out.name)); err != nil {
		return fmt.Errorf("timer: %w", err)
	}
	if err := j.out.fs.WriteFile(indexFile(j.out.name), made.appendIndex(nil)); err != nil {
		return fmt.Errorf("timer: %w", err)
	}
	return nil
}

func indexFile(name string) string { return name + "-" + indexEnd }
