package store

import (
	"errors"
	"fmt"
	"math"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store/region"
)

// indexRecovery is what is known about the index when a store is opened.
type indexRecovery struct {
	mark *indexMark // nil: nobody left one, as in a directory of the real broker
	// clean: the store was closed in order.
	clean bool
	// fullUntil is the checkpoint's index timestamp, ms.
	fullUntil int64
	logEnd    int64 // recovered end of the log, bytes
}

// recover maps the files and keeps of them what is sure: all below the mark, or without one
// all after a clean end and the full files below the checkpoint otherwise. The rest is
// deleted, and the builder makes it again from the log. Doing it twice changes nothing.
func (ix *index) recover(r indexRecovery) error {
	entries, err := ix.fs.List(indexDir)
	if err != nil {
		return err
	}
	dropped := 0
	for _, e := range entries {
		if e.Dir || !isIndexName(e.Name) {
			continue
		}
		keep := false
		if dropped == 0 {
			if keep, err = ix.load(e, r); err != nil {
				return err
			}
		}
		if !keep {
			dropped++
			if err := ix.fs.Remove(indexDir + "/" + e.Name); err != nil {
				return err
			}
		}
	}
	removed, err := ix.settle(r)
	if err != nil {
		return err
	}
	if dropped += removed; dropped > 0 {
		ix.logger.WithFields(logrus.Fields{"files": dropped, "from": ix.built.Load(), "end": r.logEnd}).
			Info("index files were not complete, they are built again from the CommitLog")
		if err := ix.fs.SyncDir(indexDir); err != nil {
			return err
		}
	}
	if last := ix.last(); last != nil {
		// The real broker takes its sizes from its configuration: all files must be alike.
		ix.geometry = last.indexGeometry
	}
	ix.asked.Store(ix.built.Load())
	return nil
}

func isIndexName(name string) bool {
	if len(name) != indexNameDigits {
		return false
	}
	for _, c := range name {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// load maps one file and tells whether it is to be kept; then it is one of files.
func (ix *index) load(e region.Entry, r indexRecovery) (keep bool, err error) {
	if r.mark == nil || e.Name > r.mark.File {
		ix.adopt(e.Size)
	}
	if r.mark != nil && e.Name > r.mark.File || e.Size < indexHeaderSize {
		return false, nil
	}
	region, err := ix.fs.Open(indexDir+"/"+e.Name, int(e.Size))
	if err != nil {
		return false, err
	}
	f := &indexFile{name: e.Name, region: region, b: region.Bytes()}
	switch {
	case r.mark != nil && e.Name == r.mark.File:
		keep, err = ix.restore(f, r)
	case r.mark == nil && !r.clean:
		keep = ix.recognize(f) && f.full() && f.head.endTimestamp <= r.fullUntil
	default:
		keep = ix.recognize(f)
	}
	if last := ix.last(); last != nil && f.head.next > 1 {
		keep = keep && last.head.endOffset <= f.head.beginOffset
	}
	if !keep || err != nil {
		return false, errors.Join(err, region.Close())
	}
	ix.files = append(ix.files, f)
	return true, nil
}

// adopt takes over the geometry of a file that the real broker made, kept or not: it maps files
// of its own alone, and is to find what is built here.
func (ix *index) adopt(size int64) {
	fourToOne := uint32(max(0, size-indexHeaderSize) / (indexSlotSize + 4*indexUnitSize))
	if g := (indexGeometry{fourToOne, 4 * fourToOne}); ix.geometry.size() != size && g.valid() && g.size() == size {
		ix.geometry = g
	}
}

// recognize finds out the geometry of a file, which it does not tell: as configured, as the
// file before, or as the real broker's default, four units to a slot.
func (ix *index) recognize(f *indexFile) bool {
	f.readHeader()
	size := int64(len(f.b))
	fourToOne := uint32((size - indexHeaderSize) / (indexSlotSize + 4*indexUnitSize))
	candidates := []indexGeometry{ix.geometry, {fourToOne, 4 * fourToOne}}
	if last := ix.last(); last != nil {
		candidates = []indexGeometry{last.indexGeometry}
	}
	for _, g := range candidates {
		f.indexGeometry = g
		if g.valid() && g.size() == size && f.sound() && f.head.next > 1 {
			return true
		}
	}
	return false
}

// restore brings the marked file to what it was when the mark was set.
func (ix *index) restore(f *indexFile, r indexRecovery) (bool, error) {
	f.indexGeometry = indexGeometry{r.mark.Slots, r.mark.Units}
	if !f.valid() || f.size() != int64(len(f.b)) || r.mark.Next < 1 || r.mark.Next > f.units {
		return false, nil
	}
	f.readHeader()
	if r.clean && f.head.next == r.mark.Next && f.sound() {
		return true, nil
	}
	return ix.cut(f, r.mark.Next, math.MaxInt64)
}

// cut drops the units from next on; false when those below are not intact.
func (ix *index) cut(f *indexFile, next uint32, end int64) (bool, error) {
	if err := f.reserve(next - 1); errors.Is(err, region.ErrNoSpace) {
		// Nothing of it can be written; built anew it may take less.
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("store: the index cannot be repaired: %w", err)
	}
	if !f.cut(next, end) {
		return false, nil
	}
	ix.restoreTimes(f)
	f.writeHeader()
	return f.sound(), nil
}

// restoreTimes takes the header's instants from the first and the last record.
func (ix *index) restoreTimes(f *indexFile) {
	h := &f.head
	if h.next == 1 {
		h.endTimestamp = h.beginTimestamp
		return
	}
	if v, ok := ix.recordAt(h.beginOffset); ok {
		h.beginTimestamp = v.StoreTimestamp
	}
	// A record of which nothing is left was about this old.
	h.endTimestamp = f.stamp(h.next-1, f.unit(h.next-1))
	if v, ok := ix.recordAt(h.endOffset); ok {
		h.endTimestamp = v.StoreTimestamp
	}
}

// settle decides from which log offset on the builder goes on, and drops what lies behind
// it, or behind a hole. It returns the number of files that are gone.
func (ix *index) settle(r indexRecovery) (dropped int, err error) {
	whole := len(ix.files)
	if r.mark == nil || r.mark.Files != whole {
		whole = ix.withoutHole()
	}
	for dropped = 0; len(ix.files) > whole; dropped++ {
		if err := ix.dropLast(); err != nil {
			return dropped, err
		}
	}
	last := ix.last()
	switch {
	case r.mark != nil && (last == nil && r.mark.File == "" || last != nil && last.name == r.mark.File):
		ix.built.Store(min(r.mark.Offset, r.logEnd))
	case last == nil:
		ix.built.Store(0)
	case r.mark == nil && r.clean && dropped == 0:
		// The record at the end is complete; the builder steps over it.
		at := min(last.head.endOffset, r.logEnd)
		if v, ok := ix.recordAt(at); ok {
			at += int64(v.Size)
		}
		ix.built.Store(at)
	default:
		// The keys of its last record may go on in the file that is gone.
		ix.built.Store(min(last.head.endOffset, r.logEnd))
	}
	more, err := ix.dropFrom(ix.built.Load())
	return dropped + more, err
}

// dropFrom drops what the index holds of records at a log offset and behind.
func (ix *index) dropFrom(offset int64) (dropped int, err error) {
	for last := ix.last(); last != nil && (last.head.next == 1 || last.head.endOffset >= offset); last = ix.last() {
		next := last.firstFrom(offset, last.head.next)
		if next > 1 {
			keep, err := ix.cut(last, next, offset)
			if keep || err != nil {
				return dropped, err
			}
		}
		if err := ix.dropLast(); err != nil {
			return dropped, err
		}
		dropped++
		if last = ix.last(); last != nil {
			offset = min(offset, last.head.endOffset)
		} else {
			offset = 0
		}
		ix.built.Store(offset)
	}
	return dropped, nil
}

// dropLast deletes the last file.
func (ix *index) dropLast() error {
	last := ix.last()
	ix.files = ix.files[:len(ix.files)-1]
	last.close()
	return ix.fs.Remove(indexDir + "/" + last.name)
}

// withoutHole is how many files follow each other without a record between them that has
// keys: someone may have deleted a file.
func (ix *index) withoutHole() int {
	at := ix.log.min()
	for i, f := range ix.files {
		if f.head.next > 1 && ix.hasKeys(at, f.head.beginOffset) {
			return i
		}
		at = f.head.endOffset
		if v, ok := ix.recordAt(at); ok {
			at += int64(v.Size)
		}
	}
	return len(ix.files)
}

// hasKeys tells whether a record in [from, to) of the log has keys.
func (ix *index) hasKeys(from, to int64) bool {
	cursor := logCursor{log: ix.log, at: from}
	defer cursor.leave()
	for cursor.next(to) {
		if ix.hashKeys(&cursor.view); len(ix.hashes) > 0 {
			return true
		}
	}
	return false
}

// recordAt reads the record that begins at a log offset.
func (ix *index) recordAt(offset int64) (v message.View, ok bool) {
	cursor := logCursor{log: ix.log, at: offset}
	defer cursor.leave()
	if offset < ix.log.min() || !cursor.next(ix.log.end.Load()) || cursor.view.CommitLogOffset != offset {
		return v, false
	}
	return cursor.view, true
}
