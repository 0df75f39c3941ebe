package store

import (
	"fmt"
	"sort"
)

// load finds the queue's files and its ends. After a clean end every unit is durable. Files
// that do not continue those before are removed: what they hold is dispatched again.
func (q *ConsumeQueue) load(clean bool, known int64) error {
	files, err := q.loadFiles(known)
	if err != nil {
		return err
	}
	q.files.Store(&files)
	if len(files) > 0 {
		if err := q.findEnds(files); err != nil {
			return err
		}
	}
	q.next = q.max.Load()
	if clean {
		q.settle(q.max.Load())
	}
	q.dirty.Store(!clean && len(files) > 0)
	return nil
}

func (q *ConsumeQueue) loadFiles(known int64) (files []*file, err error) {
	entries, err := q.fs.List(q.dir)
	if err != nil {
		return nil, err
	}
	if known > 0 {
		q.fileSize = known
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].Name < entries[j].Name })
	removed := false
	for _, e := range entries {
		var start int64
		if _, err := fmt.Sscanf(e.Name, "%020d", &start); err != nil || e.Dir {
			continue
		}
		if known == 0 && len(files) == 0 && e.Size > 0 && e.Size%unitSize == 0 {
			q.fileSize = e.Size
		}
		name := q.dir + "/" + e.Name
		if e.Size != q.fileSize || start%q.fileSize != 0 || len(files) > 0 && start != files[len(files)-1].start+q.fileSize {
			if err := q.fs.Remove(name); err != nil {
				return nil, err
			}
			removed = true
			continue
		}
		files = append(files, newFile(q.fs, q.budget, name, start, q.fileSize))
	}
	if removed {
		return files, q.fs.SyncDir(q.dir)
	}
	return files, nil
}

// findEnds walks over the last three files: after a power cut a page in the middle may lack
// while a later one is there, and what follows the gap is dispatched again.
func (q *ConsumeQueue) findEnds(files []*file) error {
	lo := files[0].start / unitSize
	filled, err := files[0].countUnits(func(u Unit) bool { return u.CommitLogOffset == 0 && u.Size == fillerSize })
	if err != nil {
		return err
	}
	lo += filled
	tail := files[max(0, len(files)-3):]
	hi := tail[0].start / unitSize
	for _, f := range tail {
		n, err := f.countUnits(func(u Unit) bool { return u.Size > 0 })
		if err != nil {
			return err
		}
		hi += n
		if n*unitSize < q.fileSize {
			break
		}
	}
	q.min.Store(min(lo, hi))
	q.max.Store(hi)
	return nil
}

// countUnits counts the units at the file's beginning that are as wanted.
func (f *file) countUnits(wanted func(Unit) bool) (n int64, err error) {
	if err := f.hold(); err != nil {
		return 0, err
	}
	defer f.drop()
	for b := f.b; len(b) >= unitSize && wanted(decodeUnit(b)); b = b[unitSize:] {
		n++
	}
	return n, nil
}
