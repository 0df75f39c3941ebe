package store

import "fmt"

// clearStep is how much of a queue file is looked at for what an earlier end left, bytes.
const clearStep = reserveStep

// first is the unit at which the queue's files begin.
func (q *ConsumeQueue) first() int64 {
	if files := *q.files.Load(); len(files) > 0 {
		return files[0].start / unitSize
	}
	return 0
}

// unitAt reads a unit whether it may be shown or not.
func (q *ConsumeQueue) unitAt(offset int64) (Unit, error) {
	f := q.fileOf(offset * unitSize)
	if f == nil {
		return Unit{}, fmt.Errorf("store: the queue file for unit %d of %s is missing", offset, q.dir)
	}
	if err := f.hold(); err != nil {
		return Unit{}, err
	}
	defer f.drop()
	return decodeUnit(f.b[offset*unitSize-f.start:]), nil
}

// below is the end of those units below n whose records end at or before a log offset.
func (q *ConsumeQueue) below(n, logEnd int64) (int64, error) {
	for first := q.first(); n > first; n-- {
		u, err := q.unitAt(n - 1)
		if err != nil {
			return 0, err
		}
		if u.Size != fillerSize && u.CommitLogOffset+int64(u.Size) <= logEnd {
			break
		}
	}
	return n, nil
}

// overwrite corrects a unit of a file that exists.
func (q *ConsumeQueue) overwrite(offset int64, u Unit) error {
	f := q.fileOf(offset * unitSize)
	if err := f.hold(); err != nil {
		return err
	}
	defer f.drop()
	at := offset*unitSize - f.start
	if err := f.region.Reserve(int(at), int(at+unitSize)); err != nil {
		return err
	}
	encodeUnit(f.b[at:], u)
	q.spoil(offset)
	return nil
}

// spoil notes that units from offset on are not durable.
func (q *ConsumeQueue) spoil(offset int64) {
	q.synced = min(q.synced, offset)
	q.dirty.Store(true)
}

// reset empties the queue and removes its files. The next sync makes that durable.
func (q *ConsumeQueue) reset() error {
	for _, f := range *q.files.Load() {
		if err := q.removeFile(f); err != nil {
			return err
		}
	}
	q.files.Store(&[]*file{})
	q.cleared = 0
	q.ends(0, 0)
	return nil
}

func (q *ConsumeQueue) removeFile(f *file) error {
	f.discard()
	q.removed = true
	q.dirty.Store(true)
	return q.fs.Remove(f.name)
}

// ends sets where the queue begins and ends, while nobody else uses it.
func (q *ConsumeQueue) ends(first, end int64) {
	q.min.Store(first)
	q.max.Store(end)
	q.next = end
	q.reserved.Store(0)
	q.synced, q.counted, q.named = min(q.synced, end), 0, 0
}

// truncate ends the queue at a unit and clears what follows: it would later be taken for units of
// other records. The next sync makes that durable, which the checkpoint after it relies on; until
// then a power cut leaves what it left before, and the queue is cut again.
func (q *ConsumeQueue) truncate(end int64) error {
	if end == 0 && len(*q.files.Load()) > 0 {
		return q.reset()
	}
	var kept []*file
	for i, f := range *q.files.Load() {
		if i > 0 && f.start >= end*unitSize {
			if err := q.removeFile(f); err != nil {
				return err
			}
			continue
		}
		kept = append(kept, f)
	}
	q.files.Store(&kept)
	if f := q.fileOf(end * unitSize); f != nil {
		to, err := f.clearUnits(end*unitSize - f.start)
		if err != nil {
			return err
		}
		q.clearedTo(f.start + to)
	}
	q.ends(min(q.Min(), end), end)
	return nil
}

// clearedTo notes up to where zeroes are to be made durable, bytes of the queue.
func (q *ConsumeQueue) clearedTo(end int64) {
	if end > q.cleared {
		q.cleared = end
		q.dirty.Store(true)
	}
}

// clearUnits zeroes what follows an offset of the file, up to where nothing is, and returns where
// that is.
func (f *file) clearUnits(from int64) (end int64, err error) {
	if err := f.hold(); err != nil {
		return 0, err
	}
	defer f.drop()
	at := from
	for at < f.size {
		to := min(at+clearStep, f.size)
		if !f.clearWritten(int(at), int(to)) {
			break
		}
		at = to
	}
	return at, nil
}

// clearWritten is clearDirty for a part of the file, but for its holes: on a full memory disk (tmpfs) reading
// one takes space.
func (f *file) clearWritten(at, end int) (dirty bool) {
	for at < end {
		from, to := f.region.Written(at)
		if from >= end {
			break
		}
		to = min(to, end)
		if clearDirty(f.b[from:to]) {
			dirty = true
		}
		at = to
	}
	return dirty
}
