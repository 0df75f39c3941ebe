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
	fileSize int64 // bytes

	// gate keeps the files mapped for readers and syncs; closing takes it whole.
	gate  sync.RWMutex
	gone  bool // closed; guarded by gate
	files atomic.Pointer[[]*queueFile]
	min   atomic.Int64 // first readable unit
	max   atomic.Int64 // next unit to be published
	next  int64        // next unit to be assigned; guarded by the append lock
	dirty atomic.Bool
	// reserved is the end of what has disk space behind it, bytes; 0 before the first write.
	reserved atomic.Int64

	synced int64 // units below are durable; belongs to the flusher
}

type queueFile struct {
	start  int64 // bytes from the queue's beginning
	region region.Region
	b      []byte
}

func newConsumeQueue(fs region.FS, topic string, queueID int32, fileSize int) *ConsumeQueue {
	q := &ConsumeQueue{
		topic: topic, queueID: queueID, dir: fmt.Sprintf("%s/%s/%d", consumeQueueDir, topic, queueID),
		fs: fs, fileSize: int64(fileSize),
	}
	q.files.Store(&[]*queueFile{})
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

// Unit returns the unit at an offset, and false outside of [Min, Max).
func (q *ConsumeQueue) Unit(offset int64) (Unit, bool) {
	q.gate.RLock()
	defer q.gate.RUnlock()
	if offset < q.Min() || offset >= q.Max() {
		return Unit{}, false
	}
	b := q.bytes(offset)
	if b == nil {
		return Unit{}, false
	}
	return decodeUnit(b), true
}

// Units reads units from an offset on into dst, as many as it holds or up to Max, and returns
// how many. An offset outside of [Min, Max) reads none; a file that is missing is an error.
func (q *ConsumeQueue) Units(offset int64, dst []Unit) (int, error) {
	q.gate.RLock()
	defer q.gate.RUnlock()
	n, end := 0, q.Max()
	if offset < q.Min() {
		return 0, nil
	}
	for ; offset < end && n < len(dst); offset, n = offset+1, n+1 {
		b := q.bytes(offset)
		if b == nil {
			return n, fmt.Errorf("store: the queue file for unit %d of %s is missing", offset, q.dir)
		}
		dst[n] = decodeUnit(b)
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

// bytes is the place of a unit, or nil when its file is not there.
func (q *ConsumeQueue) bytes(offset int64) []byte {
	at := offset * unitSize
	f := q.fileOf(at)
	if f == nil {
		return nil
	}
	return f.b[at-f.start:][:unitSize]
}

// fileOf is the file that holds a byte of the queue, or nil.
func (q *ConsumeQueue) fileOf(at int64) *queueFile {
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

// ensure makes room for the next n units, so that publishing them cannot fail.
func (q *ConsumeQueue) ensure(n int) error {
	from, end := q.next*unitSize, (q.next+int64(n))*unitSize
	for at := max(from, q.reserved.Load()); at < end; at = q.reserved.Load() {
		if err := q.extend(at); err != nil {
			return err
		}
	}
	return nil
}

// extend puts disk space behind the bytes that follow at, mapping their file when needed.
// Everything below at has it already, or holds units.
func (q *ConsumeQueue) extend(at int64) error {
	f := q.fileOf(at)
	if f == nil {
		var err error
		if f, err = q.grow(at); err != nil {
			return err
		}
	}
	to := min(at-f.start+reserveStep, q.fileSize)
	if err := f.region.Reserve(int(at-f.start), int(to)); err != nil {
		return err
	}
	q.reserved.Store(f.start + to)
	return nil
}

// put publishes the unit at offset. Offsets below max are ignored, which makes dispatching
// again harmless; a gap is filled.
func (q *ConsumeQueue) put(offset int64, u Unit) error {
	q.gate.RLock()
	defer q.gate.RUnlock()
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

func (q *ConsumeQueue) write(offset int64, u Unit) error {
	if at := offset * unitSize; at >= q.reserved.Load() {
		if err := q.extend(at); err != nil {
			return err
		}
	}
	b := q.bytes(offset)
	binary.BigEndian.PutUint64(b, uint64(u.CommitLogOffset))
	binary.BigEndian.PutUint32(b[8:], uint32(u.Size))
	binary.BigEndian.PutUint64(b[12:], uint64(u.TagsCode))
	return nil
}

// grow maps the file that is to hold the queue's byte at. The first file of a queue that
// begins later is filled up to its first unit.
func (q *ConsumeQueue) grow(at int64) (*queueFile, error) {
	start := at - at%q.fileSize
	name := fmt.Sprintf("%s/%020d", q.dir, start)
	r, err := q.fs.Open(name, int(q.fileSize))
	if err != nil {
		return nil, err
	}
	f := &queueFile{start: start, region: r, b: r.Bytes()}
	files := *q.files.Load()
	if len(files) == 0 {
		if err := r.Reserve(0, int(at-start)); err != nil {
			return nil, errors.Join(err, r.Close(), q.fs.Remove(name))
		}
		for i := int64(0); i < at-start; i += unitSize {
			binary.BigEndian.PutUint32(f.b[i+8:], fillerSize)
		}
	}
	grown := append(append(make([]*queueFile, 0, len(files)+1), files...), f)
	q.files.Store(&grown)
	return f, nil
}

// load maps the queue's files and finds its ends.
func (q *ConsumeQueue) load() error {
	entries, err := q.fs.List(q.dir)
	if err != nil {
		return err
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].Name < entries[j].Name })
	var files []*queueFile
	for _, e := range entries {
		var start int64
		if _, err := fmt.Sscanf(e.Name, "%020d", &start); err != nil || e.Size == 0 {
			continue
		}
		if len(files) == 0 {
			q.fileSize = e.Size
		}
		if e.Size != q.fileSize || len(files) > 0 && start != files[len(files)-1].start+q.fileSize {
			break
		}
		r, err := q.fs.Open(q.dir+"/"+e.Name, int(e.Size))
		if err != nil {
			return err
		}
		files = append(files, &queueFile{start: start, region: r, b: r.Bytes()})
	}
	q.files.Store(&files)
	if len(files) > 0 {
		q.findEnds(files)
	}
	q.next = q.max.Load()
	q.dirty.Store(len(files) > 0)
	return nil
}

// findEnds walks over the last three files: after a power cut a page in the middle may lack
// while a later one is there, and what follows the gap is dispatched again.
func (q *ConsumeQueue) findEnds(files []*queueFile) {
	lo := files[0].start / unitSize
	for at := int64(0); at < q.fileSize; at += unitSize {
		if u := decodeUnit(files[0].b[at:]); u.CommitLogOffset != 0 || u.Size != fillerSize {
			break
		}
		lo++
	}
	tail := files[max(0, len(files)-3):]
	hi := tail[0].start / unitSize
walk:
	for _, f := range tail {
		for at := int64(0); at < q.fileSize; at += unitSize {
			if decodeUnit(f.b[at:]).Size <= 0 {
				break walk
			}
			hi++
		}
	}
	q.min.Store(min(lo, hi))
	q.max.Store(hi)
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

// cut drops units whose records end past the recovered log.
func (q *ConsumeQueue) cut(logEnd int64) {
	at := q.max.Load()
	for ; at > q.min.Load(); at-- {
		b := q.bytes(at - 1)
		if u := decodeUnit(b); u.Size == fillerSize || u.CommitLogOffset+int64(u.Size) <= logEnd {
			break
		}
		clear(b)
		q.dirty.Store(true)
		q.synced = min(q.synced, at-1)
	}
	q.max.Store(at)
	q.next = at
}

// sync makes the units that are published durable. It belongs to one goroutine at a time.
func (q *ConsumeQueue) sync() error {
	if !q.dirty.Swap(false) {
		return nil
	}
	q.gate.RLock()
	defer q.gate.RUnlock()
	if q.gone {
		return nil
	}
	from, to := q.synced*unitSize, q.Max()*unitSize
	for _, f := range *q.files.Load() {
		lo, hi := max(from-f.start, 0), min(to-f.start, q.fileSize)
		if hi <= lo {
			continue
		}
		if err := f.region.Sync(int(lo), int(hi)); err != nil {
			q.dirty.Store(true)
			return err
		}
	}
	q.synced = to / unitSize
	return nil
}

// close unmaps the files once nobody reads them. The queue is empty for ever after.
func (q *ConsumeQueue) close() {
	q.gate.Lock()
	defer q.gate.Unlock()
	if q.gone {
		return
	}
	q.gone = true
	files := *q.files.Load()
	q.files.Store(&[]*queueFile{})
	q.max.Store(q.min.Load())
	for _, f := range files {
		// Unmapping a valid mapping fails only by a programmer's error; nothing is lost.
		_ = f.region.Close()
	}
}
