package store

import "github.com/wheelmq/wheelmq/message"

// Status is the outcome of a put, after RocketMQ's PutMessageStatus.
type Status uint8

// Outcomes of a put.
const (
	PutOK Status = iota
	FlushDiskTimeout
	FlushSlaveTimeout
	SlaveNotAvailable
	ServiceNotAvailable // shut down, not writable, disk full
	CreateMappedFileFailed
	MessageIllegal         // body or whole record too large, topic too long, empty body
	PropertiesSizeExceeded // encoded properties over 32,767 bytes
	PageCacheBusy
	UnknownError
	TopicLeaving // the topic is being deleted: in a moment it takes records again, if it is there
)

// PutResult tells where a record went.
type PutResult struct {
	Status          Status
	QueueOffset     int64  // units in the queue written to
	CommitLogOffset int64  // bytes
	StoreTimestamp  int64  // ms
	Size            int32  // bytes of the record
	Reason          string // of a ServiceNotAvailable or TopicLeaving: what an operator can act on
	MaxBody         int    // of a MessageIllegal, PropertiesSizeExceeded: the largest body that clients may send, bytes
}

// OK tells whether the record is stored (durable or not, as the flush type says).
func (r PutResult) OK() bool { return r.Status <= SlaveNotAvailable }

// Completion is told the result of a put that had to wait for durability. PutDone runs
// on a goroutine of the store and must not block.
type Completion interface {
	PutDone(PutResult)
}

// TagsCoder computes the tagsCode of a record's queue unit: the hash of its TAGS, or
// for a pending delayed record its due instant in ms. It must depend on nothing but the
// record, so that a rebuilt queue equals the lost one.
type TagsCoder func(topic string, properties []byte) int64

// Unit is one entry of a ConsumeQueue.
type Unit struct {
	CommitLogOffset int64
	Size            int32
	TagsCode        int64
}

// Arrival says that a record became readable in a queue.
type Arrival struct {
	Topic   string
	QueueID int32
	Offset  int64 // its queue offset
	Unit    Unit
}

// Slice is a piece of the log. Bytes alias the mapped file and are valid until Release,
// which must be called exactly once.
type Slice struct {
	Bytes   []byte
	release func()
}

// Release lets go of the mapped file.
func (s *Slice) Release() {
	if s.release != nil {
		s.release()
		s.release = nil
	}
}

// Log is what the broker uses of a Store; *Store implements it.
type Log interface {
	// Put appends one record. Without a wait the result is returned and pending is
	// false. With pending true the result comes through done (SYNC_FLUSH); the record
	// is not readable before. done may be nil: then no one waits.
	Put(rec *message.Record, done Completion) (res PutResult, pending bool)
	// PutBatch appends records of one topic and queue as one unit: all or none, with
	// consecutive queue offsets. The result is the first record's; every record's
	// offsets are set in recs.
	PutBatch(recs []message.Record, done Completion) (res PutResult, pending bool)

	// Collect adds a record to a group, and PutGroup appends the records of one; see Store.
	Collect(g *Group, rec *message.Record) Status
	PutGroup(g *Group, done Completion) (stored int, res PutResult, pending bool)

	// Record reads the record at an offset of the log. size ≤ 0 means: take it from the
	// record, after checking that a record starts there. The error says what is wrong.
	Record(commitLogOffset int64, size int32) (Slice, error)
	// MinCommitLogOffset and MaxCommitLogOffset bound the log, bytes.
	MinCommitLogOffset() int64
	MaxCommitLogOffset() int64

	// Queue returns a queue that exists, or nil. topic is not kept.
	Queue(topic []byte, queueID int32) *ConsumeQueue
	// DeleteTopic removes a topic's queues; its records stay in the log.
	DeleteTopic(topic string) error
	// Epoch identifies this store directory's life, for source identities.
	Epoch() uint64
}
