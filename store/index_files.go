package store

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// roll makes the next file the last one. It begins where the one before ended, as in the
// real broker, until its first record is put. Caller holds mu.
func (ix *index) roll() (*indexFile, error) {
	last := ix.last()
	previous := ""
	if last != nil {
		last.writeHeader()
		previous = last.name
	}
	f, err := ix.create(indexFileName(ix.clock.NowMillis(), previous))
	if err != nil {
		return nil, err
	}
	if last != nil {
		f.head.beginOffset, f.head.endOffset = last.head.endOffset, last.head.endOffset
		f.head.beginTimestamp, f.head.endTimestamp = last.head.endTimestamp, last.head.endTimestamp
	}
	f.writeHeader()
	ix.rolled = last != nil
	ix.files = append(ix.files[:len(ix.files):len(ix.files)], f)
	return f, nil
}

func (ix *index) create(name string) (*indexFile, error) {
	if ix.full() {
		return nil, errDiskFull
	}
	r, err := ix.fs.Open(indexDir+"/"+name, int(ix.geometry.size()))
	if err != nil {
		return nil, err
	}
	ix.unnamed.Store(true)
	f := &indexFile{name: name, region: r, b: r.Bytes(), indexGeometry: ix.geometry, dirty: true}
	f.head.next = 1
	if err := f.reserve(1); err != nil {
		return nil, errors.Join(err, r.Close(), ix.fs.Remove(indexDir+"/"+name))
	}
	return f, nil
}

// indexNameDigits: yyyyMMddHHmmssSSS.
const indexNameDigits = 17

// indexFileName is the local time as the real broker names its files, and greater than the
// name of the file before: their order is that of the names.
func indexFileName(nowMillis int64, previous string) string {
	t := time.UnixMilli(nowMillis)
	name := fmt.Sprintf("%s%03d", t.Format("20060102150405"), t.Nanosecond()/1e6)
	if name > previous {
		return name
	}
	n, err := strconv.ParseInt(previous, 10, 64)
	if err != nil {
		// Every name was made here or held 17 digits when it was loaded.
		return name
	}
	return fmt.Sprintf("%0*d", indexNameDigits, n+1)
}

// syncFull makes full files durable as soon as they are, so that a checkpoint has little to.
func (ix *index) syncFull() error {
	if !ix.rolled {
		return nil
	}
	ix.rolled = false
	ix.io.Lock()
	defer ix.io.Unlock()
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	for _, f := range ix.files[:len(ix.files)-1] {
		if err := f.sync(); err != nil {
			ix.fail(err)
			return err
		}
	}
	return nil
}

// sync makes the index durable. It returns what is, and the store timestamp at which the
// last full file ends, ms: the real broker keeps files up to that after a crash. false when
// that has not changed, since nothing can be written.
func (ix *index) sync() (mark indexMark, fullUntil int64, ok bool) {
	ix.io.Lock()
	defer ix.io.Unlock()
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	if ix.failed.Load() != nil {
		return mark, 0, false
	}
	mark.Offset = ix.built.Load()
	if err := ix.syncFiles(); err != nil {
		ix.fail(err)
		ix.logger.WithError(err).Error("the index is not written any more: messages from here on are not found by key")
		return mark, 0, false
	}
	if last := ix.last(); last != nil {
		mark.File, mark.Next, mark.Slots, mark.Units = last.name, last.head.next, last.slots, last.units
		mark.Files = len(ix.files)
	}
	for _, f := range ix.files {
		if f.full() {
			fullUntil = max(fullUntil, f.head.endTimestamp)
		}
	}
	return mark, fullUntil, true
}

func (ix *index) syncFiles() error {
	for _, f := range ix.files {
		if err := f.sync(); err != nil {
			return err
		}
	}
	if !ix.unnamed.Swap(false) {
		return nil
	}
	return ix.fs.SyncDir(indexDir)
}

// deleteBelow removes files that hold nothing but records below a log offset, never the last.
func (ix *index) deleteBelow(offset int64) error {
	ix.io.Lock()
	defer ix.io.Unlock()
	ix.mu.Lock()
	n := 0
	for n < len(ix.files)-1 && ix.files[n].head.endOffset < offset {
		n++
	}
	gone := ix.files[:n]
	ix.files = ix.files[n:]
	for _, f := range gone {
		f.close()
	}
	ix.mu.Unlock()
	for _, f := range gone {
		if err := ix.fs.Remove(indexDir + "/" + f.name); err != nil {
			return err
		}
	}
	return nil
}
