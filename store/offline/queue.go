package offline

import (
	"slices"

	"github.com/wheelmq/wheelmq/store"
	"github.com/wheelmq/wheelmq/store/region"
)

// queue is one ConsumeQueue: its units [min, max), without those whose records retention has
// removed.
type queue struct {
	d     *Dir
	topic string
	id    int32
	files []mappedFile

	opened   bool
	min, max int64

	region region.Region // of the file at, while units are read one by one
	at     mappedFile
}

// open finds the queue's ends: behind the fillers of its first file, and before the first unit
// of its last files that holds nothing.
func (q *queue) open() (err error) {
	if q.files, err = q.d.list(q.dir()); err != nil || len(q.files) == 0 {
		return err
	}
	q.min = q.files[0].start / store.UnitSize
	n, err := q.count(q.files[0], func(u store.Unit) bool { return u.CommitLogOffset == 0 && u.Size == store.FillerSize })
	if err != nil {
		return err
	}
	q.min += n
	for i := len(q.files) - 1; i >= 0; i-- {
		if n, err = q.count(q.files[i], func(u store.Unit) bool { return u.Size > 0 }); err != nil {
			return err
		}
		if q.max = q.files[i].start/store.UnitSize + n; n > 0 {
			break
		}
	}
	q.min = min(q.min, q.max)
	return q.skipExpired()
}

func (q *queue) dir() string {
	return store.ConsumeQueueDir + "/" + q.topic + "/" + itoa(int64(q.id))
}

// count counts the units at a file's beginning that are as wanted.
func (q *queue) count(f mappedFile, wanted func(store.Unit) bool) (n int64, err error) {
	r, err := q.d.fs.Open(f.name, 0)
	if err != nil {
		return 0, err
	}
	for b := r.Bytes(); len(b) >= store.UnitSize && wanted(store.DecodeUnit(b)); b = b[store.UnitSize:] {
		n++
	}
	return n, r.Close()
}

// skipExpired moves min to the first unit whose record the log still has.
func (q *queue) skipExpired() error {
	logMin := q.d.logMin()
	if logMin == 0 {
		return nil
	}
	first := q.max
	err := q.each(q.min, func(offset int64, u store.Unit) bool {
		if u.CommitLogOffset < logMin {
			return true
		}
		first = offset
		return false
	})
	q.min = first
	return err
}

// each visits the units [from, max) until visit returns false. Units of a missing file are left
// out.
func (q *queue) each(from int64, visit func(offset int64, u store.Unit) bool) error {
	for _, f := range q.files {
		first, last := f.start/store.UnitSize, (f.start+f.size)/store.UnitSize
		if last <= from || first >= q.max {
			continue
		}
		r, err := q.d.fs.Open(f.name, 0)
		if err != nil {
			return err
		}
		goOn := true
		for at := max(from, first); at < min(last, q.max) && goOn; at++ {
			goOn = visit(at, store.DecodeUnit(r.Bytes()[(at-first)*store.UnitSize:]))
		}
		if err := r.Close(); err != nil || !goOn {
			return err
		}
	}
	return nil
}

// unit reads one unit of [min, max). Files stay mapped until unmap, since records of one queue
// are read in its order.
func (q *queue) unit(offset int64) (store.Unit, error) {
	at := offset * store.UnitSize
	if q.region == nil || at < q.at.start || at >= q.at.start+q.at.size {
		q.unmap()
		i := slices.IndexFunc(q.files, func(f mappedFile) bool { return at >= f.start && at+store.UnitSize <= f.start+f.size })
		if i < 0 {
			return store.Unit{}, nil
		}
		r, err := q.d.fs.Open(q.files[i].name, 0)
		if err != nil {
			return store.Unit{}, err
		}
		q.region, q.at = r, q.files[i]
	}
	return store.DecodeUnit(q.region.Bytes()[at-q.at.start:]), nil
}

func (q *queue) unmap() {
	if q.region != nil {
		// Unmapping a valid mapping fails only by a programmer's error; nothing is lost.
		_ = q.region.Close()
		q.region = nil
	}
}

// place is where a unit lies: its file and its offset in it, bytes.
func (q *queue) place(offset int64) (file string, at int64) {
	for _, f := range q.files {
		if at := offset*store.UnitSize - f.start; at >= 0 && at < f.size {
			return f.name, at
		}
	}
	return q.dir(), offset * store.UnitSize
}
