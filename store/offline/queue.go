package offline

import (
	"github.com/wheelmq/wheelmq/store"
)

// queue is one ConsumeQueue: units [min, max), of which those below first have lost their
// records to retention.
type queue struct {
	d     *Dir
	topic string
	id    int32
	files []mappedFile

	min, max int64
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
