package processor

import (
	"sync"
	"sync/atomic"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker/filter"
	"github.com/wheelmq/wheelmq/broker/filter/sql"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/store"
)

// PullLimits bound one answer. Zero fields take RocketMQ's defaults.
type PullLimits struct {
	HotBytes   int64 // behind the end of the log, what counts as being in memory; 0: everything
	MemoryMsgs int32 // maxTransferCountOnMessageInMemory; 32
	MemorySize int64 // maxTransferBytesOnMessageInMemory, bytes; 262,144
	DiskMsgs   int32 // maxTransferCountOnMessageInDisk; 8
	DiskSize   int64 // maxTransferBytesOnMessageInDisk, bytes; 65,536
}

func (l *PullLimits) setDefaults() {
	def := func(field *int64, value int64) {
		if *field <= 0 {
			*field = value
		}
	}
	if l.MemoryMsgs <= 0 {
		l.MemoryMsgs = 32
	}
	if l.DiskMsgs <= 0 {
		l.DiskMsgs = 8
	}
	def(&l.MemorySize, 262_144)
	def(&l.DiskSize, 65_536)
}

// scanUnits is the least number of queue units one pull looks at (16,000 bytes of 20).
const scanUnits = 800

// unitChunk is how many units are read at once.
const unitChunk = 64

// batch is what an answer holds on to until it is written.
type batch struct {
	units   [unitChunk]store.Unit
	slices  []store.Slice
	offsets []int64 // of the slices' records, of one queue
	release func()
}

var batches sync.Pool

func newBatch() *batch {
	if b, ok := batches.Get().(*batch); ok {
		return b
	}
	b := &batch{slices: make([]store.Slice, 0, 32), offsets: make([]int64, 0, 32)}
	b.release = b.free
	return b
}

// free lets go of the log and gives the batch back.
func (b *batch) free() {
	for i := range b.slices {
		b.slices[i].Release()
	}
	b.slices, b.offsets = b.slices[:0], b.offsets[:0]
	batches.Put(b)
}

// pulled is the outcome of reading a queue.
type pulled struct {
	code           int32
	status         string // RocketMQ's GetMessageStatus, the remark
	next, min, max int64
	msgs           int32
	bytes          int64
	verdicts       filter.Counts
}

// records reads what queues hold for consumers.
type records struct {
	store    logReader
	limits   atomic.Pointer[PullLimits]
	verdicts *filter.Verdicts // may be nil
	log      logrus.FieldLogger
}

// want is what a read looks for.
type want struct {
	topic   string // as stored
	queueID int32
	offset  int64
	maxNums int32 // of the whole answer
	filter  *filter.Filter
}

// collect takes records from w.offset on into the reply until a limit of the answer is reached; got.next
// says how far it came, got.max how far it may. It tells whether records were not there any more.
func (r *records) collect(queue *store.ConsumeQueue, w *want, b *batch, got *pulled, reply *remoting.Reply) (removed bool) {
	hotFrom := r.hotFrom()
	got.next = w.offset
	end := min(got.max, w.offset+int64(max(scanUnits, w.maxNums)))
loop:
	for got.next < end {
		n, err := queue.Units(got.next, b.units[:min(unitChunk, end-got.next)])
		if err != nil || n == 0 {
			if err != nil {
				r.unreadable(w, got.next, err)
			}
			break
		}
		for i := range b.units[:n] {
			unit := &b.units[i]
			if w.filter.Match(unit.TagsCode) {
				if r.full(got, w.maxNums, int64(unit.Size), unit.CommitLogOffset >= hotFrom) {
					break loop
				}
				removed = !r.take(w, b, unit, got, reply) || removed
			}
			got.next++
		}
	}
	if w.filter.ByProperties() && r.verdicts != nil {
		r.verdicts.Add(&got.verdicts)
	}
	return removed
}

// take puts the record of a unit into the reply if the filter wants it. It is false when there is none
// any more.
func (r *records) take(w *want, b *batch, unit *store.Unit, got *pulled, reply *remoting.Reply) bool {
	record, err := r.store.Record(unit.CommitLogOffset, unit.Size)
	if err != nil {
		if unit.CommitLogOffset >= r.store.MinCommitLogOffset() {
			r.unreadable(w, got.next, err)
		}
		return false
	}
	verdict := w.filter.Judge(record.Bytes)
	got.verdicts[verdict]++
	if verdict != sql.True {
		record.Release()
		return true
	}
	b.slices, b.offsets = append(b.slices, record), append(b.offsets, got.next)
	reply.Parts = append(reply.Parts, record.Bytes)
	got.msgs++
	got.bytes += int64(len(record.Bytes))
	return true
}

// full tells whether a record of size bytes no longer fits. The first always does.
func (r *records) full(got *pulled, maxNums int32, size int64, hot bool) bool {
	if got.msgs == 0 {
		return false
	}
	limit := r.limits.Load()
	if hot {
		return got.msgs >= min(maxNums, limit.MemoryMsgs) || got.bytes+size > limit.MemorySize
	}
	return got.msgs >= min(maxNums, limit.DiskMsgs) || got.bytes+size > limit.DiskSize
}

// hotFrom is the CommitLog offset from which records are taken to be in memory.
func (r *records) hotFrom() int64 {
	hot := r.limits.Load().HotBytes
	if hot <= 0 {
		return 0
	}
	return r.store.MaxCommitLogOffset() - hot
}

// cold tells whether a pull's first record may have to be read from disk.
func (r *records) cold(queue *store.ConsumeQueue, offset int64) bool {
	hotFrom := r.hotFrom()
	if queue == nil || hotFrom <= 0 || offset < queue.Min() || offset >= queue.Max() {
		return false
	}
	first, ok := queue.Unit(offset)
	return ok && first.CommitLogOffset < hotFrom
}

func (r *records) unreadable(w *want, offset int64, err error) {
	r.log.WithError(err).WithFields(logrus.Fields{
		"topic": w.topic, "queueId": w.queueID, "offset": offset,
	}).Error("stored message cannot be read, it is passed")
}
