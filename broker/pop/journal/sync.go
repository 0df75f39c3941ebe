package journal

import (
	"encoding/binary"
	"fmt"
)

// Sync makes everything durable that was appended.
func (j *Journal) Sync() error {
	j.syncMu.Lock()
	defer j.syncMu.Unlock()
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		return nil // Close has made everything durable
	}
	j.dirty = false
	files := append([]*file(nil), j.files...)
	ends := make([]int, len(files))
	for i, f := range files {
		ends[i] = f.end
	}
	j.mu.Unlock()
	if len(files) == 0 {
		return nil
	}
	changed, err := j.syncFiles(files, ends)
	if err != nil {
		j.failed.Store(&err)
		j.told(never, err)
		return err
	}
	j.failed.Store(nil)
	last := len(files) - 1
	j.durable = place{files[last].number, uint32(ends[last])}
	if changed {
		j.mark()
	}
	end := files[last].base + int64(ends[last])
	j.synced.Store(end)
	j.told(end, nil)
	return nil
}

// syncFiles syncs files up to their ends, the oldest first. j.syncMu is held.
func (j *Journal) syncFiles(files []*file, ends []int) (changed bool, err error) {
	for i, f := range files {
		if f.synced == ends[i] {
			continue
		}
		from := f.synced
		if from <= headerSize {
			from = 0
		}
		if err := f.region.Sync(from, ends[i]); err != nil {
			return changed, fmt.Errorf("journal: %w", err)
		}
		changed = true
		j.mu.Lock()
		f.synced = ends[i]
		j.mu.Unlock()
	}
	return changed, nil
}

// told answers those who wait for what ends before a place.
func (j *Journal) told(end int64, err error) {
	j.mu.Lock()
	kept := j.waiting[:0]
	var done []waiter
	for _, w := range j.waiting {
		if w.end <= end {
			done = append(done, w)
		} else {
			kept = append(kept, w)
		}
	}
	j.waiting = kept
	j.mu.Unlock()
	for _, w := range done {
		w.done(err)
	}
}

// maxMark is the largest payload of a mark, bytes.
const maxMark = 4 * binary.MaxVarintLen64

// mark notes what is durable. It need not be durable itself. j.syncMu is held.
func (j *Journal) mark() {
	note := j.opts.Keeper.Note()
	j.mu.Lock()
	defer j.mu.Unlock()
	j.writeMark(j.files[0].number, note)
}

// writeMark appends a mark, if it fits into the file. j.mu and j.syncMu are held.
func (j *Journal) writeMark(oldest uint32, note int64) {
	var b [maxMark]byte
	p := binary.AppendUvarint(b[:0], uint64(j.durable.file))
	p = binary.AppendUvarint(p, uint64(j.durable.at))
	p = binary.AppendUvarint(p, uint64(oldest))
	p = binary.AppendVarint(p, note)
	if f := j.current(); !j.closed && !j.sealed && f.fits(len(p)) {
		f.write(kindMark, p)
	}
}

// mark is what one says.
type mark struct {
	durable place
	oldest  uint32
	note    int64
}

func readMark(p []byte) (m mark, ok bool) {
	var n [3]uint64
	for i := range n {
		v, size := binary.Uvarint(p)
		if size <= 0 {
			return m, false
		}
		n[i], p = v, p[size:]
	}
	note, size := binary.Varint(p)
	return mark{durable: place{uint32(n[0]), uint32(n[1])}, oldest: uint32(n[2]), note: note}, size > 0
}

// syncer syncs what is appended: at once when somebody waits, otherwise FlushMs later.
func (j *Journal) syncer() {
	defer j.started.Done()
	timer := j.opts.Wire.NewTimer()
	defer timer.Disarm()
	armed := false
	for {
		select {
		case <-j.kick:
			if j.opts.Sync {
				_ = j.Sync() // who waits is told, and Trouble shows it
				continue
			}
			if !armed {
				timer.Arm(j.opts.Wire.NowMillis() + j.opts.FlushMs)
				armed = true
			}
		case <-timer.C():
			armed = false
			known := j.failed.Load() != nil
			if err := j.Sync(); err != nil {
				if !known {
					j.opts.Log.WithError(err).Error("what is in flight to pop consumers is not durable: it is tried again")
				}
				timer.Arm(j.opts.Wire.NowMillis() + retryMs)
				armed = true
			}
		case <-j.stop:
			return
		}
	}
}
