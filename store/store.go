package store

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store/region"
)

// Store is a store directory in use. It implements Log.
type Store struct {
	opts   Options
	fs     region.FS
	lock   *dirLock
	log    *commitLog
	queues *queueTable
	meta   meta

	mu        sync.Mutex // the append lock: guards lastStamp, pending, closed and queues' next
	lastStamp int64      // ms
	pending   []waiting  // SYNC_FLUSH: appended, not durable
	closed    bool

	broken  atomic.Pointer[error] // why nothing more is accepted
	puts    atomic.Int64
	putSize atomic.Int64

	wake chan struct{} // the group commit has work
	stop chan struct{}
	wg   sync.WaitGroup
}

// waiting is a record whose publication waits for the group commit.
type waiting struct {
	queue  *ConsumeQueue
	unit   Unit
	offset int64
	done   Completion // told with result after the last record of a put
	result PutResult
}

// ErrUnsupported is wrapped when a directory holds a store made with options that this one
// does not read.
var ErrUnsupported = errors.New("unsupported store")

// Open locks, checks and recovers a store directory, or makes a new one.
func Open(opts Options) (*Store, error) {
	if err := opts.setDefaults(); err != nil {
		return nil, err
	}
	s := &Store{opts: opts, wake: make(chan struct{}, 1), stop: make(chan struct{})}
	if opts.Memory != nil {
		s.fs = opts.Memory
	} else {
		s.fs = region.OS{Root: opts.Dir}
	}
	if err := s.refuseForeign(); err != nil {
		return nil, err
	}
	if opts.Memory == nil {
		lock, err := lockDir(opts.Dir)
		if err != nil {
			return nil, err
		}
		s.lock = lock
	}
	if err := s.open(); err != nil {
		s.closeFiles()
		return nil, err
	}
	return s, nil
}

// refuseForeign looks, without writing, for what the real broker makes with options that
// this store does not read.
func (s *Store) refuseForeign() error {
	for _, foreign := range []struct{ dir, what string }{
		{"batchconsumequeue", "batch consume queues"},
		{"consumequeue_ext", "extended consume queues"},
		{"compaction/compactionLog", "compaction topics"},
		{"consumequeue_r", "RocksDB consume queues"},
		{"rocksdbstore/consumequeue", "RocksDB consume queues"},
		{"dledger", "a DLedger log"},
	} {
		entries, err := s.fs.List(foreign.dir)
		if err != nil {
			return err
		}
		if len(entries) > 0 {
			return fmt.Errorf("store: %s: %w: it has %s (%s)", s.opts.Dir, ErrUnsupported, foreign.what, foreign.dir)
		}
	}
	return nil
}

func (s *Store) open() error {
	s.log = newCommitLog(s.fs, s.opts.CommitLogFileSize)
	s.queues = newQueueTable(s.fs, s.opts.ConsumeQueueFileSize)
	if err := s.loadMeta(); err != nil {
		return err
	}
	if err := s.log.load(); err != nil {
		return err
	}
	if need := int64(s.opts.MaxMessageSize + recordOverhead + message.BlankLength); need > s.log.fileSize {
		return fmt.Errorf("store: maxMessageSize %d does not fit log files of %d bytes: mappedFileSizeCommitLog must be at least %d",
			s.opts.MaxMessageSize, s.log.fileSize, need)
	}
	if err := s.queues.load(); err != nil {
		return err
	}
	if err := s.recover(); err != nil {
		return err
	}
	return s.markRunning()
}

// Start begins to flush.
func (s *Store) Start() error {
	s.wg.Add(2)
	go s.prepareLoop()
	if s.opts.SyncFlush {
		s.wg.Add(1)
		go s.commitLoop()
	}
	go s.flushLoop()
	return nil
}

// Close flushes everything, notes the clean end and lets go of the directory.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	close(s.stop)
	s.wg.Wait()
	if s.opts.SyncFlush {
		s.commit()
	}
	err := s.flush()
	if err == nil {
		err = s.markStopped()
	}
	s.closeFiles()
	return err
}

func (s *Store) closeFiles() {
	if s.queues != nil {
		for _, q := range s.queues.all() {
			q.close()
		}
	}
	if s.log != nil {
		s.log.close()
	}
	if s.lock != nil {
		s.lock.unlock()
	}
}

// check refuses what must not be stored.
func (s *Store) check(rec *message.Record) Status {
	switch {
	case len(rec.Body) == 0 || len(rec.Body) > s.opts.MaxMessageSize:
		return MessageIllegal
	case len(rec.Properties) > message.MaxPropertiesLength:
		return PropertiesSizeExceeded
	case len(rec.Topic) > math.MaxUint8, len(rec.Topic) > message.MaxTopicLength && !derivedTopic(rec.Topic):
		return MessageIllegal
	case rec.Topic == "" || rec.QueueID < 0:
		return MessageIllegal
	}
	return PutOK
}

// derivedTopic tells whether a topic is named after a group, whose name may be longer.
func derivedTopic(topic string) bool {
	return strings.HasPrefix(topic, message.PrefixRetry) || strings.HasPrefix(topic, message.PrefixDLQ)
}

// Writable is nil while the store accepts records, and otherwise says why it does not.
func (s *Store) Writable() error {
	if err := s.broken.Load(); err != nil {
		return *err
	}
	return nil
}

// Put implements Log.
func (s *Store) Put(rec *message.Record, done Completion) (PutResult, bool) {
	if status := s.check(rec); status != PutOK {
		return PutResult{Status: status}, false
	}
	if s.broken.Load() != nil {
		return PutResult{Status: ServiceNotAvailable}, false
	}
	s.fillHost(rec)
	size := message.EncodedLen(rec)
	queue := s.queues.findOrCreate(rec.Topic, rec.QueueID)
	tagsCode := s.opts.TagsCode(rec.Topic, rec.Properties)

	s.mu.Lock()
	buf, at, status := s.begin(size)
	if status != PutOK {
		s.mu.Unlock()
		return PutResult{Status: status}, false
	}
	unit, status := s.append(buf, at, rec, queue, tagsCode)
	if status != PutOK {
		s.mu.Unlock()
		return PutResult{Status: status}, false
	}
	result := resultOf(rec, unit.Size)
	if s.opts.SyncFlush {
		s.pending = append(s.pending, waiting{queue: queue, unit: unit, offset: rec.QueueOffset, done: done, result: result})
		s.mu.Unlock()
		s.wakeCommit()
		return result, done != nil
	}
	s.mu.Unlock()
	s.arrived(queue, rec.QueueOffset, tagsCode)
	return result, false
}

// PutBatch implements Log.
func (s *Store) PutBatch(recs []message.Record, done Completion) (PutResult, bool) {
	total, bodies := 0, 0
	for i := range recs {
		if status := s.check(&recs[i]); status != PutOK {
			return PutResult{Status: status}, false
		}
		s.fillHost(&recs[i])
		total += message.EncodedLen(&recs[i])
		bodies += len(recs[i].Body)
	}
	if len(recs) == 0 || bodies > s.opts.MaxMessageSize || int64(total+message.BlankLength) > s.log.fileSize {
		return PutResult{Status: MessageIllegal}, false
	}
	if s.broken.Load() != nil {
		return PutResult{Status: ServiceNotAvailable}, false
	}
	queue := s.queues.findOrCreate(recs[0].Topic, recs[0].QueueID)

	s.mu.Lock()
	buf, at, status := s.begin(total)
	if status != PutOK {
		s.mu.Unlock()
		return PutResult{Status: status}, false
	}
	for i := range recs {
		rec := &recs[i]
		tagsCode := s.opts.TagsCode(rec.Topic, rec.Properties)
		unit, status := s.append(buf, at, rec, queue, tagsCode)
		if status != PutOK {
			s.mu.Unlock()
			return PutResult{Status: status}, false
		}
		buf, at = buf[unit.Size:], at+int64(unit.Size)
		if s.opts.SyncFlush {
			s.pending = append(s.pending, waiting{queue: queue, unit: unit, offset: rec.QueueOffset})
		}
	}
	result := resultOf(&recs[0], int32(message.EncodedLen(&recs[0])))
	if s.opts.SyncFlush {
		last := &s.pending[len(s.pending)-1]
		last.done, last.result = done, result
		s.mu.Unlock()
		s.wakeCommit()
		return result, done != nil
	}
	s.mu.Unlock()
	for i := range recs {
		s.arrived(queue, recs[i].QueueOffset, s.opts.TagsCode(recs[i].Topic, recs[i].Properties))
	}
	return result, false
}

func resultOf(rec *message.Record, size int32) PutResult {
	return PutResult{
		QueueOffset: rec.QueueOffset, CommitLogOffset: rec.CommitLogOffset, StoreTimestamp: rec.StoreTimestamp, Size: size,
	}
}

func (s *Store) fillHost(rec *message.Record) {
	if !rec.StoreHost.IsValid() {
		rec.StoreHost = s.opts.StoreHost
	}
}

// begin reserves size bytes of the log. Caller holds mu.
func (s *Store) begin(size int) ([]byte, int64, Status) {
	if s.closed {
		return nil, 0, ServiceNotAvailable
	}
	if size > s.opts.MaxMessageSize+recordOverhead {
		return nil, 0, MessageIllegal
	}
	buf, at, err := s.log.reserve(size)
	if err != nil {
		s.opts.Log.WithError(err).Error("no log file for the next record")
		return nil, 0, CreateMappedFileFailed
	}
	return buf, at, PutOK
}

// append encodes one record at the log's end and, unless it waits for the group commit,
// publishes it. Caller holds mu.
func (s *Store) append(buf []byte, at int64, rec *message.Record, queue *ConsumeQueue, tagsCode int64) (Unit, Status) {
	s.lastStamp = max(s.lastStamp, s.opts.Clock.NowMillis())
	rec.StoreTimestamp, rec.CommitLogOffset, rec.QueueOffset = s.lastStamp, at, queue.next
	size := message.Encode(buf, rec)
	unit := Unit{CommitLogOffset: at, Size: int32(size), TagsCode: tagsCode}
	if !s.opts.SyncFlush {
		if err := queue.put(queue.next, unit); err != nil {
			s.opts.Log.WithError(err).WithField("topic", rec.Topic).Error("no queue file for the next record")
			clear(buf[:size])
			return unit, CreateMappedFileFailed
		}
	}
	queue.next++
	s.log.end.Store(at + int64(size))
	s.puts.Add(1)
	s.putSize.Add(int64(size))
	return unit, PutOK
}

func (s *Store) arrived(queue *ConsumeQueue, offset, tagsCode int64) {
	if s.opts.OnArrival != nil {
		s.opts.OnArrival(Arrival{Topic: queue.topic, QueueID: queue.queueID, Offset: offset, TagsCode: tagsCode})
	}
}

// Queue implements Log.
func (s *Store) Queue(topic []byte, queueID int32) *ConsumeQueue {
	return s.queues.find(topic, queueID)
}

// Queues returns a topic's queues that exist, by number.
func (s *Store) Queues(topic string) []*ConsumeQueue {
	s.queues.mu.RLock()
	defer s.queues.mu.RUnlock()
	var list []*ConsumeQueue
	for _, q := range s.queues.topics[topic] {
		if q != nil {
			list = append(list, q)
		}
	}
	return list
}

// DeleteTopic implements Log.
func (s *Store) DeleteTopic(topic string) error { return s.queues.remove(topic) }

// MinCommitLogOffset implements Log.
func (s *Store) MinCommitLogOffset() int64 { return s.log.min() }

// MaxCommitLogOffset implements Log.
func (s *Store) MaxCommitLogOffset() int64 { return s.log.end.Load() }

// FlushedOffset is the log offset below which everything is durable, bytes.
func (s *Store) FlushedOffset() int64 { return s.log.flushed.Load() }

// Epoch implements Log.
func (s *Store) Epoch() uint64 { return s.meta.Epoch }

// Stats are totals since the start.
type Stats struct {
	Puts, PutBytes int64
}

// Stats returns the totals.
func (s *Store) Stats() Stats { return Stats{Puts: s.puts.Load(), PutBytes: s.putSize.Load()} }

func newEpoch() uint64 { return rand.Uint64() >> 1 }
