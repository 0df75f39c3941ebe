package timer

import "errors"

var errNotOurs = errors.New("timer: a job of another Timeline, or one that was finished")

// prepare implements farPart. Days go by hours as soon as they begin within 48 hours.
func (f *far) prepare(nearEnd, _ int64) (jobs []Job) {
	f.look = f.look || nearEnd > f.nearEnd
	f.nearEnd = max(f.nearEnd, nearEnd)
	day := (f.nearEnd + hoursAhead + secondsPerDay - 1) / secondsPerDay
	f.hoursEnd = max(f.hoursEnd, day*secondsPerDay)
	if j := f.clean(); j != nil {
		jobs = append(jobs, j)
	}
	if f.sorting == nil && f.look {
		var b bucket
		if b, f.look = f.pick(); f.look {
			f.sorting = f.sortJob(b)
			jobs = append(jobs, f.sorting)
		}
	}
	return jobs
}

// pick chooses what is to be sorted next, the earliest first. An hour waits until its day is split.
func (f *far) pick() (best bucket, ok bool) {
	consider := func(b bucket) {
		if b.day && b.begin() >= f.hoursEnd || !b.day && !f.due(b) {
			return
		}
		if !ok || b.begin() < best.begin() || b.begin() == best.begin() && b.day {
			best, ok = b, true
		}
	}
	for b := range f.segments {
		consider(b)
	}
	for _, r := range f.days {
		if s, ok := r.next(0); ok {
			consider(hourBucket(s))
		}
	}
	return best, ok
}

// due tells whether an hour is to be sorted now.
func (f *far) due(b bucket) bool {
	if b.end() > f.nearEnd || len(f.segments[dayBucket(b.begin())]) > 0 {
		return false
	}
	if len(f.hours) < maxSortedHours {
		return true
	}
	for n := range f.hours {
		if n >= b.n {
			return true
		}
	}
	return false
}

// sortJob makes the job that sorts a bucket. Its segments are closed from now on.
func (f *far) sortJob(b bucket) *sortJob {
	j := &sortJob{bucket: b, id: f.newID(), tally: b.day, counts: make(map[int64]*[secondsPerHour]uint32)}
	f.forgetRecent()
	j.out = f.extent(extentName(b, runKind, j.id))
	take := func(s source) { j.sources, j.records = append(j.sources, s), j.records+s.count }
	if r := f.runs(b.day)[b.n]; r != nil {
		take(r.rest())
	}
	if day, s, ok := f.ofDay(b); ok {
		part := day.source(s)
		part.inLogOrder = true
		take(part)
	}
	for _, s := range f.segments[b] {
		s.closed = true
		f.unmap(s)
		take(s.source())
	}
	return j
}

func (f *far) runs(day bool) map[int64]*run {
	if day {
		return f.days
	}
	return f.hours
}

// finish implements farPart.
func (f *far) finish(job Job) error {
	switch j := job.(type) {
	case *sortJob:
		if j != f.sorting {
			return errNotOurs
		}
		f.sorting, f.look = nil, true
		if j.made != nil {
			f.sorted(j)
		}
		return nil
	case *cleanJob:
		if j != f.cleaning {
			return errNotOurs
		}
		f.cleaning = nil
		if j.failed {
			f.removed = append(f.removed, j.remove...)
		} else {
			f.trimmed(j)
		}
		return nil
	}
	return errNotOurs
}

// sorted puts a run in the place of what it was made of.
func (f *far) sorted(j *sortJob) {
	b, runs := j.bucket, f.runs(j.bucket.day)
	if j.lost > 0 {
		f.report(j.damage, j.lost, damage{file: j.made.x.name, at: -1})
	}
	if old := runs[b.n]; old != nil {
		j.made.gone = old.gone
		f.dropRun(old)
	}
	runs[b.n] = j.made
	for _, s := range f.segments[b] {
		f.dropSegment(s)
	}
	delete(f.segments, b)
	if b.day {
		for hour, c := range j.counts {
			have := f.counted(hour)
			for i, n := range c {
				have[i] += n
			}
		}
	} else {
		delete(f.counts, b.n)
		f.takeHour(b)
	}
	f.findUnsorted()
	f.forgetRecent()
}

// ofDay is what the run of a day has of an hour.
func (f *far) ofDay(hour bucket) (day *run, s stretch, ok bool) {
	if hour.day {
		return nil, stretch{}, false
	}
	if day = f.days[hour.n/hoursPerDay]; day != nil {
		s, ok = day.stretch(hour.n % hoursPerDay)
	}
	return day, s, ok
}

// takeHour takes a sorted hour out of the run of its day.
func (f *far) takeHour(hour bucket) {
	day, s, ok := f.ofDay(hour)
	if !ok {
		return
	}
	day.taken |= 1 << s.part
	if left, _ := day.left(); left == 0 {
		f.dropRun(day)
		delete(f.days, day.bucket.n)
	}
}
