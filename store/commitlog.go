package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sort"
	"sync/atomic"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store/region"
)

const commitLogDir = "commitlog"

// logFile is one mapped file of the CommitLog. Readers hold references, so that a file is
// unmapped only when nobody looks at it.
type logFile struct {
	start   int64 // log offset of its first byte
	region  region.Region
	b       []byte
	refs    atomic.Int64 // readers, plus one while the log owns the file
	release func()
}

func newLogFile(start int64, r region.Region) *logFile {
	f := &logFile{start: start, region: r, b: r.Bytes()}
	f.refs.Store(1)
	f.release = f.drop
	return f
}

// hold takes a reference; false when the file is being closed.
func (f *logFile) hold() bool {
	for {
		n := f.refs.Load()
		if n == 0 {
			return false
		}
		if f.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (f *logFile) drop() {
	if f.refs.Add(-1) == 0 {
		// Unmapping a valid mapping fails only by a programmer's error; nothing is lost.
		_ = f.region.Close()
	}
}

// commitLog is the chain of log files. Appending belongs to the holder of Store.mu; reading
// is free for all below end.
type commitLog struct {
	fs       region.FS
	fileSize int64
	files    atomic.Pointer[[]*logFile] // ascending, contiguous
	end      atomic.Int64               // next append, bytes
	flushed  atomic.Int64               // durable below, bytes

	next chan *logFile // a file prepared ahead
	want chan int64    // start offset of the file to prepare

	named   atomic.Int64 // start of the last file whose name is durable, plus one
	warm    atomic.Int64 // prefaulted below
	prewarm chan int64   // asks to prefault from an offset on
}

// warmWindow is how far ahead of the end pages are made writable. First touches cost more
// than all else of an append, so they are kept out of the append lock.
const warmWindow = 4 << 20

func logFileName(start int64) string { return fmt.Sprintf("%s/%020d", commitLogDir, start) }

func newCommitLog(fs region.FS, fileSize int) *commitLog {
	l := &commitLog{fs: fs, fileSize: int64(fileSize), next: make(chan *logFile, 1), want: make(chan int64, 1), prewarm: make(chan int64, 1)}
	l.files.Store(&[]*logFile{})
	return l
}

// load maps the files that exist. A store keeps the file size it was made with.
func (l *commitLog) load() error {
	entries, err := l.fs.List(commitLogDir)
	if err != nil {
		return err
	}
	var files []*logFile
	sort.Slice(entries, func(i, j int) bool { return entries[i].Name < entries[j].Name })
	for i, e := range entries {
		var start int64
		if _, err := fmt.Sscanf(e.Name, "%020d", &start); err != nil || len(e.Name) != 20 {
			return fmt.Errorf("store: %s/%s is not a log file", commitLogDir, e.Name)
		}
		if e.Size == 0 && i == len(entries)-1 {
			if err := l.fs.Remove(commitLogDir + "/" + e.Name); err != nil {
				return err
			}
			continue
		}
		if len(files) == 0 {
			l.fileSize = e.Size
		}
		if e.Size != l.fileSize {
			return fmt.Errorf("store: %s/%s has %d bytes, the first log file has %d", commitLogDir, e.Name, e.Size, l.fileSize)
		}
		if len(files) > 0 && start != files[len(files)-1].start+l.fileSize {
			return fmt.Errorf("store: the log file at offset %d is missing, the next is %s/%s",
				files[len(files)-1].start+l.fileSize, commitLogDir, e.Name)
		}
		r, err := l.fs.Open(commitLogDir+"/"+e.Name, int(e.Size))
		if err != nil {
			return err
		}
		files = append(files, newLogFile(start, r))
	}
	l.files.Store(&files)
	return nil
}

func (l *commitLog) min() int64 {
	if files := *l.files.Load(); len(files) > 0 {
		return files[0].start
	}
	return 0
}

// file returns the file that holds an offset, or nil.
func (l *commitLog) file(offset int64) *logFile {
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
	if f == nil {
		var err error
		if f, err = l.roll(end); err != nil {
			return nil, 0, err
		}
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
	}
	l.prepareAhead(f, at)
	return f.b[at : at+int64(size)], end, nil
}

// roll makes the file at start the last one, taking the prepared one when there is one.
func (l *commitLog) roll(start int64) (*logFile, error) {
	// A file that was prepared before a clean end was loaded with the others.
	f := l.file(start)
	if f != nil {
		return f, nil
	}
	select {
	case f = <-l.next:
	default:
	}
	if f != nil && f.start != start {
		f.drop()
		f = nil
	}
	if f == nil {
		var err error
		if f, err = l.create(start); err != nil {
			return nil, err
		}
	}
	files := *l.files.Load()
	grown := append(append(make([]*logFile, 0, len(files)+1), files...), f)
	l.files.Store(&grown)
	return f, nil
}

// create makes the file at start, with disk space behind all of it, or nothing.
func (l *commitLog) create(start int64) (*logFile, error) {
	r, err := l.fs.Open(logFileName(start), int(l.fileSize))
	if err != nil {
		return nil, err
	}
	if err := r.Reserve(0, int(l.fileSize)); err != nil {
		return nil, errors.Join(err, r.Close(), l.fs.Remove(logFileName(start)))
	}
	return newLogFile(start, r), nil
}

// prepareAhead asks for the next file when the current one is half full.
// Pages are asked for when half of the window is used up.
func (l *commitLog) prepareAhead(f *logFile, at int64) {
	if f.start+min(at+warmWindow/2, l.fileSize) > l.warm.Load() {
		select {
		case l.prewarm <- f.start + at:
		default:
		}
	}
	if at < l.fileSize/2 || len(l.next) > 0 || len(l.want) > 0 {
		return
	}
	select {
	case l.want <- f.start + l.fileSize:
	default:
	}
}

// prepare opens the file asked for. Its failure is not lost: roll tries again and reports.
func (l *commitLog) prepare(start int64) {
	if l.file(start) != nil {
		return
	}
	f, err := l.create(start)
	if err != nil {
		return
	}
	f.region.Prefault(0, int(min(warmWindow, l.fileSize)))
	select {
	case l.next <- f:
	default:
		f.drop()
	}
}

// prefault warms the window that begins at an offset.
func (l *commitLog) prefault(from int64) {
	f := l.file(from)
	if f == nil || !f.hold() {
		return
	}
	defer f.drop()
	to := min(from+warmWindow, f.start+l.fileSize)
	if lo := max(from, l.warm.Load()); lo < to {
		f.region.Prefault(int(lo-f.start), int(to-f.start))
	}
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
		if err := f.region.Sync(int(lo), int(hi)); err != nil {
			return err
		}
		if f.start >= l.named.Load() {
			if err := l.fs.SyncDir(commitLogDir); err != nil {
				return err
			}
			l.named.Store(f.start + 1)
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
	var keep []*logFile
	for _, f := range files {
		if f.start >= end && f.start > l.min() {
			f.drop()
			if err := l.fs.Remove(logFileName(f.start)); err != nil {
				return err
			}
			continue
		}
		if from := end - f.start; from >= 0 && from < l.fileSize && clearDirty(f.b[from:]) {
			if err := f.region.Sync(int(from), int(l.fileSize)); err != nil {
				return err
			}
		}
		keep = append(keep, f)
	}
	l.files.Store(&keep)
	l.end.Store(end)
	return nil
}

// reserveTail puts disk space behind what is written next: files of the real broker have none.
func (l *commitLog) reserveTail(end int64) error {
	f := l.file(end)
	if f == nil {
		return nil
	}
	return f.region.Reserve(int(end-f.start), int(l.fileSize))
}

// clearDirty zeroes b without touching pages that are zero already, and tells whether any
// was not.
func clearDirty(b []byte) (dirty bool) {
	const page = 4096
	for len(b) > 0 {
		n := min(page, len(b))
		for _, c := range b[:n] {
			if c != 0 {
				clear(b[:n])
				dirty = true
				break
			}
		}
		b = b[n:]
	}
	return dirty
}

func (l *commitLog) close() {
	select {
	case f := <-l.next:
		f.drop()
	default:
	}
	for _, f := range *l.files.Load() {
		f.drop()
	}
}
