package store

// SetMin moves the first readable offset forward, units. It never moves back.
func (q *ConsumeQueue) SetMin(offset int64) {
	for old := q.min.Load(); offset > old && offset <= q.max.Load(); old = q.min.Load() {
		if q.min.CompareAndSwap(old, offset) {
			return
		}
	}
}

// raiseMin makes the first unit whose record is in the log the first readable one.
func (q *ConsumeQueue) raiseMin(logMin int64) {
	lo, hi := q.Min(), q.Max()
	for lo < hi {
		mid := lo + (hi-lo)/2
		if u, ok := q.Unit(mid); ok && u.CommitLogOffset < logMin {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	q.SetMin(lo)
}

// deleteHead removes the files whose units are all below Min, but never the one with the last
// unit: it knows where the queue ends, and one made ahead is not durable.
// It belongs to the flusher's turn, as sync does.
func (q *ConsumeQueue) deleteHead() error {
	q.mu.Lock()
	files := *q.files.Load()
	n := 0
	for n < len(files)-1 && files[n].start+files[n].size < min(q.Min(), q.synced)*unitSize {
		n++
	}
	if n > 0 {
		rest := append(make([]*file, 0, len(files)-n), files[n:]...)
		q.files.Store(&rest)
	}
	q.mu.Unlock()
	for _, f := range files[:n] {
		f.discard()
		if err := q.fs.Remove(f.name); err != nil {
			return err
		}
		// In order: a power cut that leaves a file before one that is gone would cost all behind.
		if err := q.fs.SyncDir(q.dir); err != nil {
			return err
		}
	}
	return nil
}
