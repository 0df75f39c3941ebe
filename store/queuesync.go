package store

// sync makes the units that are published durable. It belongs to one goroutine at a time.
func (q *ConsumeQueue) sync() error {
	q.dirty.Store(false)
	from, to := q.synced*unitSize, q.Max()*unitSize
	for _, f := range *q.files.Load() {
		lo, hi := max(from-f.start, 0), min(max(to, q.cleared)-f.start, q.fileSize)
		if hi <= lo {
			continue
		}
		if err := f.sync(lo, hi); err != nil {
			if q.isGone() {
				return nil
			}
			q.dirty.Store(true)
			return err
		}
	}
	if err := q.syncNames(to); err != nil {
		return err
	}
	q.settle(to / unitSize)
	return nil
}

// syncNames makes durable which files were made, and removed, since the last time.
func (q *ConsumeQueue) syncNames(to int64) error {
	if q.removed {
		return q.fs.SyncDir(q.dir)
	}
	for _, f := range *q.files.Load() {
		if f.start >= q.named && f.start < to {
			return q.fs.SyncDir(q.dir)
		}
	}
	return nil
}

// settle notes that the units below end are durable; files that are full need not stay mapped.
func (q *ConsumeQueue) settle(end int64) {
	q.synced, q.cleared, q.removed = end, 0, false
	q.named = max(q.named, end*unitSize)
	for _, f := range *q.files.Load() {
		if f.start+f.size <= end*unitSize {
			f.writing.Store(false)
		}
	}
}
