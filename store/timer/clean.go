package timer

import (
	"errors"
	"fmt"

	"github.com/wheelmq/wheelmq/store/region"
)

// cleanJob removes the files that no checkpoint names any more, and takes sorted hours out of the
// runs of days.
type cleanJob struct {
	fs     region.FS
	dir    string
	remove []removal
	trim   []trim
	failed bool
}

// removal is an extent to be deleted.
type removal struct {
	found
	name   string
	chunks int64
}

// trim is a run of a day whose index changes; files that hold nothing any more go.
type trim struct {
	name   string
	id     uint64
	taken  uint32
	index  []byte
	chunks []int64
}

// Run implements Job. Parts of days go first: the hours made of them are needed until then.
func (j *cleanJob) Run() error {
	var errs []error
	for _, t := range j.trim {
		if err := j.fs.WriteFile(indexFile(t.name), t.index); err != nil {
			errs = append(errs, err)
			continue
		}
		for _, number := range t.chunks {
			errs = append(errs, j.fs.Remove(chunkFile(t.name, number)))
		}
	}
	if err := errors.Join(append(errs, removeDone(j.fs, j.dir, j.remove))...); err != nil {
		j.failed = true
		return fmt.Errorf("timer: remove what is done: %w", err)
	}
	return nil
}

// Sorts implements Job.
func (j *cleanJob) Sorts() bool { return false }

// Lost implements Job.
func (j *cleanJob) Lost() *Lost { return nil }

// Stop implements Job: it takes not long.
func (j *cleanJob) Stop() {}

// removeDone deletes what later extents have taken the place of: what was made of something goes
// after it, and of a run first the index. Each step is durable before the next, so that no power
// cut leaves a run without its records, or brings records back that a run had.
func removeDone(fs region.FS, dir string, list []removal) error {
	return removeInSteps(fs, dir, list,
		func(r removal) bool { return r.kind == segmentKind },
		func(r removal) bool { return r.kind == runKind && r.bucket.day },
		func(r removal) bool { return r.kind == runKind && !r.bucket.day })
}

// removeMade deletes what was made and does not count, the other way around.
func removeMade(fs region.FS, dir string, list []removal) error {
	return removeInSteps(fs, dir, list,
		func(r removal) bool { return r.kind == runKind && !r.bucket.day },
		func(r removal) bool { return r.kind == runKind && r.bucket.day },
		func(r removal) bool { return r.kind == segmentKind })
}

// removeInSteps deletes what makes extents count, step by step, and then the files of runs.
func removeInSteps(fs region.FS, dir string, list []removal, steps ...func(r removal) bool) error {
	for _, in := range steps {
		err := removeStep(fs, dir, list, in, func(r removal) error {
			if r.kind == runKind {
				return fs.Remove(indexFile(r.name))
			}
			return removeChunks(fs, r)
		})
		if err != nil {
			return err
		}
	}
	return removeStep(fs, dir, list, func(r removal) bool { return r.kind == runKind },
		func(r removal) error { return removeChunks(fs, r) })
}

func removeStep(fs region.FS, dir string, list []removal, in func(r removal) bool, remove func(r removal) error) error {
	var errs []error
	for _, r := range list {
		if in(r) {
			errs = append(errs, remove(r))
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return errors.Join(append(errs, fs.SyncDir(dir))...)
}

func removeChunks(fs region.FS, r removal) error {
	var errs []error
	for number := range r.chunks {
		errs = append(errs, fs.Remove(chunkFile(r.name, number)))
	}
	return errors.Join(errs...)
}

// clean makes the job that removes what the last saved state does not name any more, nil when
// there is nothing.
func (f *far) clean() *cleanJob {
	if !f.tidy || f.cleaning != nil || f.browsers > 0 {
		return nil
	}
	f.tidy = false
	j := &cleanJob{fs: f.opts.FS, dir: f.dir, remove: f.removed}
	for _, r := range f.days {
		if r.named != r.trimmed {
			j.trim = append(j.trim, r.trim())
		}
	}
	if len(j.remove)+len(j.trim) == 0 {
		return nil
	}
	f.cleaning, f.removed = j, nil
	return j
}

// trim is what the files of a day's run can do without.
func (r *run) trim() trim {
	left := *r
	left.taken = r.named
	t := trim{name: r.x.name, id: r.id, taken: r.named, index: left.appendIndex(nil)}
	needed := make(map[int64]bool)
	for _, s := range r.parts {
		if !left.isTaken(s.part) {
			r.eachChunk(s, func(number int64) { needed[number] = true })
		}
	}
	for _, s := range r.parts {
		if (r.named&^r.trimmed)>>s.part&1 == 1 {
			r.eachChunk(s, func(number int64) {
				if !needed[number] {
					t.chunks = append(t.chunks, number)
				}
			})
		}
	}
	return t
}

// eachChunk calls fn for the number of each file that has something of a stretch.
func (r *run) eachChunk(s stretch, fn func(number int64)) {
	for number := s.pos / r.x.chunk; number*r.x.chunk < s.pos+s.bytes; number++ {
		fn(number)
	}
}

// trimmed takes in that the runs of days were trimmed.
func (f *far) trimmed(j *cleanJob) {
	for _, t := range j.trim {
		for _, r := range f.days {
			if r.id == t.id {
				r.trimmed = t.taken
			}
		}
	}
}

// saved implements farPart.
func (f *far) saved(state []byte) error {
	var named manifest
	if err := named.decode(state); err != nil {
		return err
	}
	ids := make(map[uint64]bool)
	lengths := make(map[uint64]int64)
	for i := range named.segments {
		ids[named.segments[i].id], lengths[named.segments[i].id] = true, named.segments[i].length
	}
	for i := range named.runs {
		r := &named.runs[i]
		ids[r.id] = true
		if day := f.days[r.bucket.n]; r.bucket.day && day != nil && day.id == r.id {
			day.named = r.taken
		}
	}
	for _, list := range f.segments {
		for _, s := range list {
			if n, ok := lengths[s.id]; ok {
				s.durable, s.dirty = n, 0
			}
		}
	}
	kept := f.dropped[:0]
	for _, r := range f.dropped {
		if ids[r.id] {
			kept = append(kept, r)
		} else {
			f.removed = append(f.removed, r)
		}
	}
	f.dropped, f.tidy = kept, true
	return nil
}
