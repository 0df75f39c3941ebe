package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/wheelmq/wheelmq/store/region"
)

const (
	consumeQueueDir = "consumequeue"
	// unitSize: log offset i8, record size i4, tagsCode i8, big-endian.
	unitSize = 20
	// fillerSize marks units before a queue's first one in its first file.
	fillerSize = 0x7FFFFFFF
)

// ConsumeQueue is one queue's index into the CommitLog. One goroutine at a time appends
// (the holder of the store's append lock, or the group commit); reading is free for all.
type ConsumeQueue struct {
	topic    string
	queueID  int32
	dir      string
	fs       region.FS
	budget   *budget
	fileSize int64 // bytes

	files atomic.Pointer[[]*file] // ascending, contiguous; start: bytes from the queue's beginning
	min   atomic.Int64            // first readable unit
	max   atomic.Int64            // next unit to be published
	next  int64                   // next unit to be assigned; guarded by the append lock
	dirty atomic.Bool
	// leaving: the topic is about to be deleted, nothing more is accepted; guarded by the append lock.
	leaving bool

	mu   sync.Mutex // guards what follows up to reserved, and changes of files
	gone bool       // the topic is deleted, or the store closed
	// left are the files that a deleted queue still has mapped; erased: none is on disk.
	left   []*file
	erased bool
	// earlier is a deleted queue of the same name, whose files may still be there, or nil.
	earlier *ConsumeQueue
	// reserved is the end of what has disk space behind it, bytes; 0 before the first write.
	reserved atomic.Int64

	// What follows is guarded by Store.flushMu.
	synced  int64 // units below are durable
	counted int64 // units below are those of records below the last checkpoint
	named   int64 // files that begin below have durable names, bytes
}

func newConsumeQueue(fs region.FS, b *budget, topic string, queueID int32, fileSize int) *ConsumeQueue {
	q := &ConsumeQueue{
		topic: topic, queueID: queueID, dir: fmt.Sprintf("%s/%s/%d", consumeQueueDir, topic, queueID),
		fs: fs, budget: b, fileSize: int64(fileSize),
	}
	q.files.Store(&[]*file{})
	return q
}

// Topic is the queue's topic.
func (q *ConsumeQueue) Topic() string { return q.topic }

// QueueID is the queue's number in its topic.
func (q *ConsumeQueue) QueueID() int32 { return q.queueID }

// Min is the first readable offset, units.
func (q *ConsumeQueue) Min() int64 { return q.min.Load() }

// Max is the offset that the next record will have, units.
func (q *ConsumeQueue) Max() int64 { return q.max.Load() }

// Unit returns the unit at an offset, and false outside of [Min, Max) or when it cannot be
// read.
func (q *ConsumeQueue) Unit(offset int64) (Unit, bool) {
	var one [1]Unit
	n, err := q.Units(offset, one[:])
	return one[0], n == 1 && err == nil
}

// Units reads units from an offset on into dst, as many as it holds or up to Max, and returns
// how many. An offset outside of [Min, Max) reads none; a file that is missing is an error.
func (q *ConsumeQueue) Units(offset int64, dst []Unit) (int, error) {
	if offset < q.Min() {
		return 0, nil
	}
	n, end := 0, q.Max()
	for offset < end && n < len(dst) {
		f := q.fileOf(offset * unitSize)
		if f == nil {
			return n, fmt.Errorf("store: the queue file for unit %d of %s is missing", offset, q.dir)
		}
		if err := f.hold(); err != nil {
			return n, err
		}
		b := f.b[offset*unitSize-f.start:]
		for ; len(b) > 0 && offset < end && n < len(dst); offset, n = offset+1, n+1 {
			if dst[n] = decodeUnit(b); dst[n].Size <= 0 {
				dst[n] = Unit{Size: fillerSize} // damaged: nobody may take it for the log's first record
			}
			b = b[unitSize:]
		}
		f.drop()
	}
	return n, nil
}

func decodeUnit(b []byte) Unit {
	return Unit{
		CommitLogOffset: int64(binary.BigEndian.Uint64(b)),
		Size:            int32(binary.BigEndian.Uint32(b[8:])),
		TagsCode:        int64(binary.BigEndian.Uint64(b[12:])),
	}
}

// fileOf is the file that holds a byte of the queue, or nil.
func (q *ConsumeQueue) fileOf(at int64) *file {
	files := *q.files.Load()
	if len(files) == 0 || at < files[0].start {
		return nil
	}
	i := (at - files[0].start) / q.fileSize
	if i >= int64(len(files)) {
		return nil
	}
	return files[i]
}

// reserveStep is how much disk space a queue takes at a time, bytes: thousands of queues that
// hold little must not take a file each.
const reserveStep = 16 << 10

// ensure makes room for the next n units, so that publishing them cannot fail. Caller holds
// the append lock.
func (q *ConsumeQueue) ensure(n int) error {
	end := (q.next + int64(n)) * unitSize
	if end <= q.reserved.Load() {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.reserve(q.next*unitSize, end)
}

// reserve makes the bytes [from, to) writable. Caller holds mu.
func (q *ConsumeQueue) reserve(from, to int64) error {
	for at := max(from, q.reserved.Load()); at < to; at = q.reserved.Load() {
		if err := q.extend(at); err != nil {
			return err
		}
	}
	return nil
}

// extend puts disk space behind the bytes that follow at and maps their file for good.
// Everything below at has it already, or holds units. Caller holds mu.
func (q *ConsumeQueue) extend(at int64) error {
	f := q.fileOf(at)
	if f == nil {
		var err error
		if f, err = q.grow(at); err != nil {
			return err
		}
	}
	if err := f.hold(); err != nil {
		return err
	}
	defer f.drop()
	from := at - f.start
	to := min(from+reserveStep, q.fileSize)
	err := f.region.Reserve(int(from), int(to))
	if errors.Is(err, region.ErrNoSpace) {
		// A page may be left where four are not.
		to = min(from+pageSize, q.fileSize)
		err = f.region.Reserve(int(from), int(to))
	}
	if err != nil {
		return err
	}
	f.writing.Store(true)
	q.reserved.Store(f.start + to)
	return nil
}

// grow makes the file that is to hold the queue's byte at. The first file of a queue that
// begins later is filled up to its first unit. Caller holds mu.
func (q *ConsumeQueue) grow(at int64) (*file, error) {
	if err := q.eraseEarlier(); err != nil {
		return nil, err
	}
	start := at - at%q.fileSize
	f := newFile(q.fs, q.budget, fmt.Sprintf("%s/%020d", q.dir, start), start, q.fileSize)
	files := *q.files.Load()
	if len(files) == 0 && at > start {
		if err := f.fillTo(at - start); err != nil {
			f.discard()
			return nil, errors.Join(err, q.fs.Remove(f.name))
		}
	}
	grown := append(append(make([]*file, 0, len(files)+1), files...), f)
	q.files.Store(&grown)
	return f, nil
}

// fillTo marks the units below an offset of the file as not there.
func (f *file) fillTo(end int64) error {
	if err := f.hold(); err != nil {
		return err
	}
	defer f.drop()
	if err := f.region.Reserve(0, int(end)); err != nil {
		return err
	}
	for i := int64(0); i < end; i += unitSize {
		encodeUnit(f.b[i:], Unit{Size: fillerSize})
	}
	return nil
}

// put publishes the unit at offset. Offsets below max are ignored, which makes dispatching
// again harmless; a gap is filled.
func (q *ConsumeQueue) put(offset int64, u Unit) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.publish(offset, u)
}

// publish is put for one who holds mu.
func (q *ConsumeQueue) publish(offset int64, u Unit) error {
	if q.gone || offset < q.max.Load() {
		return nil
	}
	if len(*q.files.Load()) == 0 && offset > 0 {
		q.min.Store(offset)
		q.max.Store(offset)
	}
	for at := q.max.Load(); at < offset; at++ {
		if err := q.write(at, Unit{Size: fillerSize}); err != nil {
			return err
		}
		q.max.Store(at + 1)
	}
	if err := q.write(offset, u); err != nil {
		return err
	}
	q.dirty.Store(true)
	q.max.Store(offset + 1)
	return nil
}

// write needs mu. The file stays mapped while it is written to.
func (q *ConsumeQueue) write(offset int64, u Unit) error {
	at := offset * unitSize
	if err := q.reserve(at, at+unitSize); err != nil {
		return err
	}
	f := q.fileOf(at)
	encodeUnit(f.b[at-f.start:], u)
	return nil
}

func encodeUnit(b []byte, u Unit) {
	binary.BigEndian.PutUint64(b, uint64(u.CommitLogOffset))
	binary.BigEndian.PutUint32(b[8:], uint32(u.Size))
	binary.BigEndian.PutUint64(b[12:], uint64(u.TagsCode))
}

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

// sync makes the units that are published durable. It belongs to one goroutine at a time.
func (q *ConsumeQueue) sync() error {
	q.dirty.Store(false)
	from, to := q.synced*unitSize, q.Max()*unitSize
	for _, f := range *q.files.Load() {
		lo, hi := max(from-f.start, 0), min(to-f.start, q.fileSize)
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

// syncNames makes the names of files durable that were made since the last time.
func (q *ConsumeQueue) syncNames(to int64) error {
	for _, f := range *q.files.Load() {
		if f.start >= q.named && f.start < to {
			return q.fs.SyncDir(q.dir)
		}
	}
	return nil
}

// settle notes that the units below end are durable; files that are full need not stay mapped.
func (q *ConsumeQueue) settle(end int64) {
	q.synced = end
	q.named = max(q.named, end*unitSize)
	for _, f := range *q.files.Load() {
		if f.start+f.size <= end*unitSize {
			f.writing.Store(false)
		}
	}
}

func (q *ConsumeQueue) isGone() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.gone
}

// close ends the queue's use; it is empty for ever after. Readers that hold a file keep it
// until they drop it.
func (q *ConsumeQueue) close() {
	q.detach()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.discardLeft()
}
