package processor

import (
	"sync"

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
	release func()
}

var batches sync.Pool

func newBatch() *batch {
	if b, ok := batches.Get().(*batch); ok {
		return b
	}
	b := &batch{slices: make([]store.Slice, 0, 32)}
	b.release = b.free
	return b
}

// free lets go of the log and gives the batch back.
func (b *batch) free() {
	for i := range b.slices {
		b.slices[i].Release()
	}
	b.slices = b.slices[:0]
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

// read fills the answer to a pull. queue may be nil.
func (p *Pull) read(queue *store.ConsumeQueue, t *pullTarget, reply *remoting.Reply) pulled {
	started := p.opts.Wire.NowMillis()
	got := edge(queue, t.offset)
	if p.opts.Rewound != nil && p.remembered(t, got.max) {
		if at := p.rewind(t, &got); at < t.offset {
			got.code, got.status, got.next = remoting.PullRetryImmediately, "OFFSET_OF_AN_EARLIER_LIFE", at
		}
	}
	p.moveToReset(t, &got)
	if got.status == "" {
		p.collect(queue, t, &got, reply)
	}
	reply.Code, reply.Remark = got.code, got.status
	head := remoting.PullMessageResponse{
		NextBeginOffset: got.next, MinOffset: got.min, MaxOffset: got.max,
		TopicSysFlag: t.topic.TopicSysFlag, GroupSysFlag: t.group.GroupSysFlag,
	}
	head.Encode(&reply.Ext)
	if got.code == remoting.Success {
		t.counters.Got(int64(got.msgs), got.bytes)
		if p.opts.InFlight != nil {
			p.opts.InFlight.Given(t.place(), t.connID, t.offset, got.next, int64(got.msgs))
		}
	} else {
		p.opts.Stats.Missed()
	}
	p.opts.Stats.GotTook(p.opts.Wire.NowMillis() - started)
	return got
}

// moveToReset sends a pull to where its group's offset was reset to.
func (p *Pull) moveToReset(t *pullTarget, got *pulled) {
	if !p.opts.Offsets.Resetting() {
		return
	}
	if at, ok := p.opts.Offsets.TakeReset(t.group.GroupName, t.topic.TopicName, t.queueID, t.offset); ok {
		got.code, got.status, got.next = remoting.PullOffsetMoved, "OFFSET_RESET", at
	}
}

// remembered tells whether a pull's offset is of an earlier life.
func (p *Pull) remembered(t *pullTarget, highest int64) bool {
	return p.opts.Rewound.Take(t.group.GroupName, t.topic.TopicName, t.queueID, t.offset) || t.offset > highest
}

// rewind is where a group goes on in a queue that has become shorter.
func (p *Pull) rewind(t *pullTarget, got *pulled) int64 {
	committed := p.opts.Offsets.Query([]byte(t.group.GroupName), []byte(t.topic.TopicName), t.queueID)
	return min(max(committed, got.min), got.max)
}

// edge answers a pull at an offset where the queue has nothing; the status is "" when
// there is something to read.
func edge(queue *store.ConsumeQueue, offset int64) pulled {
	if queue == nil {
		return nothing(offset, "NO_MATCHED_LOGIC_QUEUE", pulled{})
	}
	got := pulled{min: queue.Min(), max: queue.Max()}
	switch {
	case got.max == 0:
		return nothing(offset, "NO_MESSAGE_IN_QUEUE", got)
	case offset < got.min:
		got.code, got.status, got.next = remoting.PullOffsetMoved, "OFFSET_TOO_SMALL", got.min
	case offset == got.max:
		got.code, got.status, got.next = remoting.PullNotFound, "OFFSET_OVERFLOW_ONE", offset
	case offset > got.max:
		got.code, got.status, got.next = remoting.PullOffsetMoved, "OFFSET_OVERFLOW_BADLY", got.max
	}
	return got
}

// nothing sends a client that is not at 0 back there.
func nothing(offset int64, status string, got pulled) pulled {
	got.code, got.status = remoting.PullNotFound, status
	if offset != 0 {
		got.code = remoting.PullOffsetMoved
	}
	return got
}

// collect takes records from t.offset on into the reply until a limit is reached.
func (p *Pull) collect(queue *store.ConsumeQueue, t *pullTarget, got *pulled, reply *remoting.Reply) {
	b := newBatch()
	hotFrom := p.hotFrom()
	scan := int64(max(scanUnits, t.maxNums))
	removed := false
	got.next = t.offset
	end := min(got.max, t.offset+scan)
loop:
	for got.next < end {
		n, err := queue.Units(got.next, b.units[:min(unitChunk, end-got.next)])
		if err != nil || n == 0 {
			if err != nil {
				p.unreadable(t, got.next, err)
			}
			break
		}
		for i := range b.units[:n] {
			unit := &b.units[i]
			if t.filter.Match(unit.TagsCode) {
				if p.full(got, t.maxNums, int64(unit.Size), unit.CommitLogOffset >= hotFrom) {
					break loop
				}
				removed = !p.take(t, b, unit, got, reply) || removed
			}
			got.next++
		}
	}
	if t.filter.ByProperties() && p.opts.Verdicts != nil {
		p.opts.Verdicts.Add(&got.verdicts)
	}
	p.conclude(got, t.offset, removed)
	if got.msgs == 0 {
		b.free()
		return
	}
	reply.Release = b.release
}

// take puts the record of a unit into the reply if the filter wants it. It is false when there is none
// any more.
func (p *Pull) take(t *pullTarget, b *batch, unit *store.Unit, got *pulled, reply *remoting.Reply) bool {
	record, err := p.opts.Store.Record(unit.CommitLogOffset, unit.Size)
	if err != nil {
		if unit.CommitLogOffset >= p.opts.Store.MinCommitLogOffset() {
			p.unreadable(t, got.next, err)
		}
		return false
	}
	verdict := t.filter.Judge(record.Bytes)
	got.verdicts[verdict]++
	if verdict != sql.True {
		record.Release()
		return true
	}
	b.slices = append(b.slices, record)
	reply.Parts = append(reply.Parts, record.Bytes)
	got.msgs++
	got.bytes += int64(len(record.Bytes))
	return true
}

// conclude sets code and status of what collect found.
func (p *Pull) conclude(got *pulled, from int64, removed bool) {
	switch {
	case got.msgs > 0:
		got.code, got.status = remoting.Success, "FOUND"
	case removed:
		got.code, got.status = remoting.PullRetryImmediately, "MESSAGE_WAS_REMOVING"
	case got.next == from:
		got.code, got.status = remoting.PullNotFound, "OFFSET_FOUND_NULL"
	default:
		got.code, got.status = remoting.PullRetryImmediately, "NO_MATCHED_MESSAGE"
	}
}

// full tells whether a record of size bytes no longer fits. The first always does.
func (p *Pull) full(got *pulled, maxNums int32, size int64, hot bool) bool {
	if got.msgs == 0 {
		return false
	}
	limit := p.opts.Limits
	if hot {
		return got.msgs >= min(maxNums, limit.MemoryMsgs) || got.bytes+size > limit.MemorySize
	}
	return got.msgs >= min(maxNums, limit.DiskMsgs) || got.bytes+size > limit.DiskSize
}

// hotFrom is the CommitLog offset from which records are taken to be in memory.
func (p *Pull) hotFrom() int64 {
	if p.opts.Limits.HotBytes <= 0 {
		return 0
	}
	return p.opts.Store.MaxCommitLogOffset() - p.opts.Limits.HotBytes
}

// apart tells whether a pull finds something that takes too long to be read on the event loop.
func (p *Pull) apart(queue *store.ConsumeQueue, t *pullTarget) bool {
	if t.filter.Slow() {
		return queue != nil && t.offset >= queue.Min() && t.offset < queue.Max()
	}
	return p.cold(queue, t.offset)
}

// cold tells whether a pull's first record may have to be read from disk.
func (p *Pull) cold(queue *store.ConsumeQueue, offset int64) bool {
	hotFrom := p.hotFrom()
	if queue == nil || hotFrom <= 0 || offset < queue.Min() || offset >= queue.Max() {
		return false
	}
	first, ok := queue.Unit(offset)
	return ok && first.CommitLogOffset < hotFrom
}

func (p *Pull) unreadable(t *pullTarget, offset int64, err error) {
	p.opts.Log.WithError(err).WithFields(logrus.Fields{
		"topic": t.topic.TopicName, "queueId": t.queueID, "offset": offset,
	}).Error("stored message cannot be read, it is passed")
}
