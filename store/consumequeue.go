package store

import (
	"encoding/binary"
	"fmt"
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
	cleared int64 // recovery has cleared units up to here, which is not durable; 0: none, bytes
	removed bool  // recovery has removed files, which is not durable
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
