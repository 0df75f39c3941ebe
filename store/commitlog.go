package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store/region"
)

const commitLogDir = "commitlog"

// commitLog is the chain of log files. Appending belongs to the holder of Store.mu; reading
// is free for all below end.
type commitLog struct {
	fs       region.FS
	budget   *budget
	fileSize int64
	files    atomic.Pointer[[]*file] // ascending, contiguous
	end      atomic.Int64            // next append, bytes
	flushed  atomic.Int64            // durable below, bytes
	syncs    atomic.Int64            // calls that made something of it durable

	// spare is the next file, made ahead: what remains for the broker's own records when the
	// disk is full.
	spare   atomic.Pointer[file]
	sparing sync.Mutex    // makes files one at a time
	want    chan struct{} // asks for a spare

	warm    atomic.Int64 // prefaulted below
	prewarm chan int64   // asks to prefault from an offset on
}

// warmWindow is how far ahead of the end pages are made writable. First touches cost more
// than all else of an append, so they are kept out of the append lock.
const warmWindow = 4 << 20

func logFileName(start int64) string { return fmt.Sprintf("%s/%020d", commitLogDir, start) }

func newCommitLog(fs region.FS, b *budget, fileSize int) *commitLog {
	l := &commitLog{fs: fs, budget: b, fileSize: int64(fileSize), want: make(chan struct{}, 1), prewarm: make(chan int64, 1)}
	l.files.Store(&[]*file{})
	return l
}

// load finds the files that exist. A store keeps the file size it was made with.
// known is that size, 0 when nobody noted it.
func (l *commitLog) load(known int64) error {
	found, err := readLayout(l.fs)
	if err != nil {
		return err
	}
	if found.empty != "" {
		if err := l.fs.Remove(found.empty); err != nil {
			return err
		}
	}
	if found.size > 0 && known > 0 && found.size != known {
		return fmt.Errorf("store: the files in %s have %d bytes, the store's have %d", commitLogDir, found.size, known)
	}
	if found.size > 0 {
		l.fileSize = found.size
	}
	files := make([]*file, len(found.starts))
	for i, start := range found.starts {
		files[i] = l.newFile(start)
	}
	l.files.Store(&files)
	return nil
}

func (l *commitLog) newFile(start int64) *file {
	return newFile(l.fs, l.budget, logFileName(start), start, l.fileSize)
}

// fileStart is where the file begins that holds an offset, or the offset without one.
func (l *commitLog) fileStart(offset int64) int64 {
	if f := l.file(offset); f != nil {
		return f.start
	}
	return offset
}

// limit is where the last file ends.
func (l *commitLog) limit() int64 {
	files := *l.files.Load()
	if len(files) == 0 {
		return 0
	}
	return files[len(files)-1].start + l.fileSize
}

func (l *commitLog) min() int64 {
	if files := *l.files.Load(); len(files) > 0 {
		return files[0].start
	}
	return 0
}

// file returns the file that holds an offset, or nil.
func (l *commitLog) file(offset int64) *file {
	files := *l.files.Load()
	if len(files) == 0 || offset < files[0].start {
		return nil
	}
	if i := (offset - files[0].start) / l.fileSize; i < int64(len(files)) {
		return files[i]
	}
	return nil
}

// reserve returns the bytes of the next record and its log offset, rolling to the next file
// when it does not fit. Caller holds Store.mu and moves end by advance.
func (l *commitLog) reserve(size int) ([]byte, int64, error) {
	end := l.end.Load()
	f := l.file(end)
	if f == nil || !f.writing.Load() {
		var err error
		if f, err = l.roll(end); err != nil {
			return nil, 0, err
		}
		l.askSpare()
	}
	at := end - f.start
	if at+int64(size)+message.BlankLength > l.fileSize {
		next, err := l.roll(f.start + l.fileSize)
		if err != nil {
			return nil, 0, err
		}
		binary.BigEndian.PutUint32(f.b[at:], uint32(l.fileSize-at))
		binary.BigEndian.PutUint32(f.b[at+4:], message.MagicBlank)
		end = next.start
		l.end.Store(end)
		f, at = next, 0
		l.askSpare()
	}
	l.prepareAhead(f, at)
	return f.b[at : at+int64(size)], end, nil
}

// roll makes the file that begins at start, or holds it, the last one and ready to be written
// to, taking the prepared one when there is one.
func (l *commitLog) roll(start int64) (*file, error) {
	// A file that was prepared before the last end was loaded with the others.
	if f := l.file(start); f != nil {
		return f, f.openForWriting(start - f.start)
	}
	l.sparing.Lock()
	defer l.sparing.Unlock()
	f, err := l.takeSpare(start)
	if err != nil {
		return nil, err
	}
	files := *l.files.Load()
	grown := append(append(make([]*file, 0, len(files)+1), files...), f)
	l.files.Store(&grown)
	return f, nil
}

// takeSpare returns the file at start, which is made when there is no spare. Caller holds
// sparing until the file is in files: it would be made twice.
func (l *commitLog) takeSpare(start int64) (*file, error) {
	f := l.spare.Swap(nil)
	if f == nil {
		return l.create(start)
	}
	if f.start != start {
		f.discard()
		return l.create(start)
	}
	return f, nil
}

// askSpare has the file after the current one made, away from the append lock.
func (l *commitLog) askSpare() {
	select {
	case l.want <- struct{}{}:
	default:
	}
}

// keepSpare fails when clients' records have used a sixteenth of the last file that there is
// space for: the rest is the broker's own. The spare is normally made long before.
func (l *commitLog) keepSpare() error {
	if l.spare.Load() != nil {
		return nil
	}
	end := l.end.Load()
	f := l.file(end)
	if f == nil || end-f.start < l.fileSize/16 || l.file(f.start+l.fileSize) != nil {
		return nil
	}
	return l.makeSpare()
}

// makeSpare sees to it that the file after the current one exists.
func (l *commitLog) makeSpare() error {
	l.sparing.Lock()
	defer l.sparing.Unlock()
	start := l.end.Load()
	if f := l.file(start); f != nil {
		start = f.start + l.fileSize
	}
	if l.file(start) != nil || l.spare.Load() != nil {
		return nil
	}
	f, err := l.create(start)
	if err != nil {
		return err
	}
	l.spare.Store(f)
	return nil
}

// create makes the file at start, with disk space behind all of it, or nothing. Its name and
// size are durable before the first record: a gap between files is damage and no power cut.
func (l *commitLog) create(start int64) (*file, error) {
	f := l.newFile(start)
	err := f.openForWriting(0)
	if err == nil {
		err = f.sync(0, 1)
	}
	if err == nil {
		err = l.fs.SyncDir(commitLogDir)
	}
	if err != nil {
		f.discard()
		return nil, errors.Join(err, l.fs.Remove(f.name))
	}
	return f, nil
}

// openForWriting maps the file for good, with disk space behind what follows from.
func (f *file) openForWriting(from int64) error {
	if err := f.hold(); err != nil {
		return err
	}
	defer f.drop()
	if err := f.region.Reserve(int(from), int(f.size)); err != nil {
		return err
	}
	f.writing.Store(true)
	return nil
}

// prepareAhead asks for the pages that are written next when half of the window is used up.
func (l *commitLog) prepareAhead(f *file, at int64) {
	warm := l.warm.Load()
	if f.start+at+warmWindow/2 <= warm {
		return
	}
	select {
	case l.prewarm <- max(f.start+at, warm):
	default:
	}
}

// prefault warms the window that begins at an offset, of the last file or of the spare.
func (l *commitLog) prefault(from int64) {
	f := l.file(from)
	if f == nil {
		f = l.spare.Load()
	}
	if f == nil || from < f.start || from >= f.start+f.size || f.hold() != nil {
		return
	}
	defer f.drop()
	to := min(from+warmWindow, f.start+l.fileSize)
	f.region.Prefault(int(from-f.start), int(to-f.start))
	l.warm.Store(to)
}

// sync makes everything below to durable.
func (l *commitLog) sync(to int64) error {
	from := l.flushed.Load()
	for _, f := range *l.files.Load() {
		lo, hi := max(from-f.start, 0), min(to-f.start, l.fileSize)
		if hi <= lo {
			continue
		}
		if err := f.sync(lo, hi); err != nil {
			return err
		}
		l.syncs.Add(1)
		if hi == l.fileSize {
			f.writing.Store(false)
		}
	}
	for to > from && !l.flushed.CompareAndSwap(from, to) {
		from = l.flushed.Load()
	}
	return nil
}

// cut makes end the end of the log: what follows is zeroed, so that no later recovery takes
// an old record for a new one, and later files are removed.
func (l *commitLog) cut(end int64) error {
	files := *l.files.Load()
	var keep []*file
	for _, f := range files {
		if f.start >= end && f.start > l.min() {
			f.discard()
			if err := l.fs.Remove(f.name); err != nil {
				return err
			}
			continue
		}
		if from := end - f.start; from >= 0 && from < l.fileSize {
			if err := f.clearFrom(from); err != nil {
				return err
			}
		}
		keep = append(keep, f)
	}
	l.files.Store(&keep)
	l.end.Store(end)
	// A file that came back would hold records of before.
	return l.fs.SyncDir(commitLogDir)
}

// clearFrom zeroes durably what follows an offset of the file.
func (f *file) clearFrom(from int64) error {
	if err := f.hold(); err != nil {
		return err
	}
	defer f.drop()
	if !clearDirty(f.b[from:]) {
		return nil
	}
	return f.region.Sync(int(from), int(f.size))
}

// clearDirty zeroes b without touching pages that are zero already, and tells whether any
// was not.
func clearDirty(b []byte) (dirty bool) {
	for len(b) > 0 {
		n := min(len(zeros), len(b))
		if !bytes.Equal(b[:n], zeros[:n]) {
			clear(b[:n])
			dirty = true
		}
		b = b[n:]
	}
	return dirty
}

var zeros [pageSize]byte

func (l *commitLog) close() {
	if f := l.spare.Swap(nil); f != nil {
		f.discard()
	}
	for _, f := range *l.files.Load() {
		f.discard()
	}
}
