package journal

import (
	"fmt"
	"sync"
)

// keeper makes the spare, and empties the oldest files.
func (j *Journal) keeper() {
	defer j.started.Done()
	timer := j.opts.Wire.NewTimer()
	defer timer.Disarm()
	for {
		if !j.look() {
			timer.Arm(j.opts.Wire.NowMillis() + retryMs)
		}
		select {
		case <-j.keep:
		case <-timer.C():
		case <-j.stop:
			return
		}
	}
}

// look does what there is to do, and tells whether it could.
func (j *Journal) look() (done bool) {
	j.keepMu.Lock()
	defer j.keepMu.Unlock()
	done = j.makeSpare() == nil
	if err := j.shrink(); err != nil {
		j.opts.Log.WithError(err).Warn("the oldest file of the pop journal cannot be emptied: it is tried again")
		return false
	}
	return done
}

// Hold calls a function while nothing is written to the files, so that it can copy them.
func (j *Journal) Hold(fn func()) {
	for _, mu := range [...]*sync.Mutex{&j.keepMu, &j.syncMu, &j.mu} {
		mu.Lock()
		defer mu.Unlock()
	}
	fn()
}

// makeSpare makes the file that is written to next, while others write to this one.
func (j *Journal) makeSpare() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.spare != nil || j.sealed {
		return nil
	}
	number := j.number()
	j.making = true
	j.mu.Unlock()
	f, err := j.create(number)
	j.mu.Lock()
	j.making = false
	j.made.Broadcast()
	j.spared(f, err)
	return err
}

// shrink empties the oldest files while the journal is more than twice as large as what it is to tell.
func (j *Journal) shrink() error {
	for {
		j.mu.Lock()
		if j.sealed {
			j.mu.Unlock()
			return nil
		}
		oldest, n := j.files[0], len(j.files)
		end, damaged := oldest.end, oldest.number < j.anew
		j.mu.Unlock()
		few := 2 + 2*int(j.opts.Keeper.Size()/int64(j.opts.FileSize))
		if n < 2 || !damaged && n <= few && !(n > 2 && j.opts.Keeper.Idle(oldest.number)) {
			return nil
		}
		if err := j.empty(oldest, end); err != nil {
			return err
		}
		select {
		case <-j.stop:
			return nil
		default:
		}
	}
}

// empty has all that a file says and is still true appended anew, and removes the file.
func (j *Journal) empty(f *file, end int) error {
	if !j.opts.Keeper.Idle(f.number) {
		for at := headerSize; at < end; {
			kind, payload, next, ok := f.read(at)
			if !ok {
				at = f.resume(at, end)
				continue
			}
			if kind < firstOwn {
				if err := j.opts.Keeper.Keep(f.number, kind, payload); err != nil {
					return fmt.Errorf("journal: %w", err)
				}
			}
			at = next
		}
	}
	if err := j.opts.Keeper.KeepRest(f.number); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return j.remove(f)
}

// remove removes the oldest file, when what was appended anew is durable, and that it is gone is told.
func (j *Journal) remove(f *file) error {
	note := j.opts.Keeper.Note()
	if closed, err := j.tellGone(f, note); closed || err != nil {
		return err
	}
	if err := j.Sync(); err != nil {
		return err
	}
	j.syncMu.Lock()
	j.mu.Lock()
	j.files = j.files[1:]
	j.mu.Unlock()
	j.syncMu.Unlock()
	if err := f.region.Close(); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if err := j.opts.FS.Remove(nameOf(j.opts.Dir, f.number)); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if err := j.opts.FS.SyncDir(j.opts.Dir); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}

// tellGone appends that the journal begins after a file, unless it is closed.
func (j *Journal) tellGone(f *file, note int64) (closed bool, err error) {
	j.syncMu.Lock()
	defer j.syncMu.Unlock()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return true, nil
	}
	for j.making {
		j.made.Wait()
	}
	if !j.current().fits(maxMark) {
		if _, err := j.roll(); err != nil {
			return false, err
		}
	}
	j.writeMark(f.number+1, note)
	return false, nil
}
