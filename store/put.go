package store

import (
	"bytes"
	"errors"
	"math"
	"runtime/debug"
	"strings"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store/region"
)

// check refuses what must not be stored.
func (s *Store) check(rec *message.Record) Status {
	switch {
	case len(rec.Body) == 0 || !rec.Internal && int64(len(rec.Body)) > s.maxBody.Load():
		return MessageIllegal
	case len(rec.Properties) > message.MaxPropertiesLength:
		return PropertiesSizeExceeded
	case len(rec.Topic) > math.MaxUint8, len(rec.Topic) > message.MaxTopicLength && !derivedTopic(rec.Topic):
		return MessageIllegal
	case rec.QueueID < 0 || !validName(rec.Topic):
		return MessageIllegal
	case !rec.Internal && bytes.IndexByte(rec.Properties, 0) >= 0:
		// Recovery takes zeros there for what a power cut left unwritten.
		return MessageIllegal
	}
	return PutOK
}

// largest is the largest size of a record that is stored, bytes. maxMessageSize is about what clients
// send: what the broker stores anew was accepted once, when it may have been larger.
func (s *Store) largest(rec *message.Record) int {
	if rec.Internal {
		return int(s.log.fileSize) - message.BlankLength
	}
	return int(s.maxBody.Load()) + recordOverhead
}

// illegal is the result of a put of what is never stored.
func (s *Store) illegal(status Status) PutResult {
	return PutResult{Status: status, MaxBody: int(s.maxBody.Load())}
}

// derivedTopic tells whether a topic is named after a group, whose name may be longer.
func derivedTopic(topic string) bool {
	return strings.HasPrefix(topic, message.PrefixRetry) || strings.HasPrefix(topic, message.PrefixDLQ)
}

// validName tells whether a topic can name a directory, and only one of its own.
func validName(topic string) bool {
	for i := range len(topic) {
		if c := topic[i]; c == '/' || c == '\\' || c == 0 {
			return false
		}
	}
	return topic != "" && topic != "." && topic != ".."
}

// indexed tells whether a record has a place in a queue: prepared and rolled-back records of
// transactions have none.
func indexed(sysFlag int32) bool {
	kind := sysFlag & message.SysFlagTransactionMask
	return kind != message.SysFlagPrepared && kind != message.SysFlagRollback
}

// Put implements Log.
func (s *Store) Put(rec *message.Record, done Completion) (PutResult, bool) {
	if status := s.check(rec); status != PutOK {
		return s.illegal(status), false
	}
	s.fillHost(rec)
	size := message.EncodedLen(rec)
	if size > s.largest(rec) {
		return s.illegal(MessageIllegal), false
	}
	queue := s.queues.findOrCreate(rec.Topic, rec.QueueID)
	rec.TagsCode = s.opts.TagsCode(rec.Topic, rec.Properties)
	result, queue := s.putOne(queue, rec, size, done)
	if !result.OK() {
		return result, false
	}
	if !s.wakeNext() {
		return result, done != nil
	}
	s.arrived(queue, rec)
	return result, false
}

// wakeNext wakes who goes on with what a put has left in the log, and tells whether that is readable
// by now: under SYNC_FLUSH the group commit makes it so.
func (s *Store) wakeNext() (readable bool) {
	if s.opts.SyncFlush {
		s.wakeCommit()
		return false
	}
	s.index.offer(s.published.Load())
	s.wakeFlush()
	return true
}

func (s *Store) putOne(queue *ConsumeQueue, rec *message.Record, size int, done Completion) (result PutResult, _ *ConsumeQueue) {
	s.mu.Lock()
	defer s.unlock(&result)
	queue, buf, at, status := s.begin(queue, size, 1, rec.Internal)
	if status != PutOK {
		return s.refused(status), queue
	}
	unit := s.append(buf, at, rec, queue)
	result = resultOf(rec, unit.Size)
	s.publish(queue, rec, unit)
	s.awaitCommit(done, result)
	return result, queue
}

// unlock ends a turn at the log. When a page of a mapped file could not be written the put is
// refused, like all that follow.
func (s *Store) unlock(result *PutResult) {
	defer s.mu.Unlock()
	if s.afterFault(recover()) {
		*result = s.refused(ServiceNotAvailable)
	}
}

// PutBatch implements Log. The batch is bounded like one message: its bodies together by
// maxMessageSize; it lies in one log file.
func (s *Store) PutBatch(recs []message.Record, done Completion) (PutResult, bool) {
	total, bodies := 0, 0
	for i := range recs {
		if status := s.check(&recs[i]); status != PutOK {
			return s.illegal(status), false
		}
		s.fillHost(&recs[i])
		recs[i].TagsCode = s.opts.TagsCode(recs[i].Topic, recs[i].Properties)
		total += message.EncodedLen(&recs[i])
		bodies += len(recs[i].Body)
		if recs[i].Topic != recs[0].Topic || recs[i].QueueID != recs[0].QueueID || !indexed(recs[i].SysFlag) {
			return s.illegal(MessageIllegal), false
		}
	}
	if len(recs) == 0 || int64(bodies) > s.maxBody.Load() || int64(total+message.BlankLength) > s.log.fileSize {
		return s.illegal(MessageIllegal), false
	}
	result, queue := s.putAll(recs, total, done)
	if !result.OK() {
		return result, false
	}
	if !s.wakeNext() {
		return result, done != nil
	}
	for i := range recs {
		s.arrived(queue, &recs[i])
	}
	return result, false
}

func (s *Store) putAll(recs []message.Record, total int, done Completion) (result PutResult, queue *ConsumeQueue) {
	queue = s.queues.findOrCreate(recs[0].Topic, recs[0].QueueID)
	s.mu.Lock()
	defer s.unlock(&result)
	queue, buf, at, status := s.begin(queue, total, len(recs), recs[0].Internal)
	if status != PutOK {
		return s.refused(status), queue
	}
	for i := range recs {
		rec := &recs[i]
		unit := s.append(buf, at, rec, queue)
		s.publish(queue, rec, unit)
		buf, at = buf[unit.Size:], at+int64(unit.Size)
		if i == 0 {
			result = resultOf(rec, unit.Size)
		}
	}
	s.awaitCommit(done, result)
	return result, queue
}

// awaitCommit hands a put to the group commit, which tells done. Caller holds mu.
func (s *Store) awaitCommit(done Completion, result PutResult) {
	if !s.opts.SyncFlush {
		return
	}
	last := &s.pending[len(s.pending)-1]
	last.done, last.result, last.deadline = done, result, s.opts.Wire.NowMillis()+s.opts.SyncFlushTimeoutMs
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

// begin makes room for n records of size bytes together, in the log and in their queue, so
// that nothing can fail after it, and takes the instant at which they are stored. A queue deleted
// meanwhile is replaced. Only internal records may use what is reserved on a full disk. Caller
// holds mu.
func (s *Store) begin(queue *ConsumeQueue, size, n int, internal bool) (*ConsumeQueue, []byte, int64, Status) {
	debug.SetPanicOnFault(true)
	if !s.accepts(internal) {
		return nil, nil, 0, ServiceNotAvailable
	}
	queue, buf, at, status := s.room(queue, size, n, internal)
	if status == PutOK {
		s.takeStamp()
	}
	return queue, buf, at, status
}

// accepts tells whether the store takes such records at all. Caller holds mu.
func (s *Store) accepts(internal bool) bool {
	return !s.closed && s.broken.Load() == nil && (internal || s.full.Load() == nil)
}

// takeStamp takes the instant of what is appended next, which is never before that of the last.
// Caller holds mu.
func (s *Store) takeStamp() { s.lastStamp = max(s.lastStamp, s.opts.Clock.NowMillis()) }

// room makes room for n records of size bytes together. Caller holds mu.
func (s *Store) room(queue *ConsumeQueue, size, n int, internal bool) (*ConsumeQueue, []byte, int64, Status) {
	switch {
	case queue.gone:
		queue = s.queues.findOrCreate(queue.topic, queue.queueID)
	case queue.leaving:
		return nil, nil, 0, TopicLeaving
	}
	var err error
	if !internal {
		err = s.log.keepSpare()
	}
	var buf []byte
	var at int64
	if err == nil {
		buf, at, err = s.log.reserve(size)
	}
	if err == nil {
		err = s.ensure(queue, n, internal)
	}
	if err != nil {
		return nil, nil, 0, s.noRoom(queue, err)
	}
	s.failing = false
	return queue, buf, at, PutOK
}

// refused is the result of a put that begin refused, with the reason where there is more to
// say than the status does. Caller holds mu.
func (s *Store) refused(status Status) PutResult {
	res := PutResult{Status: status}
	switch err := s.Writable(); {
	case status == TopicLeaving:
		res.Reason = "the topic is being deleted"
	case status != ServiceNotAvailable:
	case err != nil:
		res.Reason = err.Error()
	case s.full.Load() != nil:
		res.Reason = s.fullReason()
	}
	return res
}

// ensure makes room in a queue, out of the reserve if need be.
func (s *Store) ensure(queue *ConsumeQueue, n int, internal bool) error {
	for {
		err := queue.ensure(n)
		if !internal || !errors.Is(err, region.ErrNoSpace) {
			return err
		}
		s.noSpace(err)
		if released, failed := s.reserve.release(); !released || failed != nil {
			return errors.Join(err, failed)
		}
	}
}

func (s *Store) noRoom(queue *ConsumeQueue, err error) Status {
	if errors.Is(err, region.ErrNoSpace) {
		s.noSpace(err)
		return ServiceNotAvailable
	}
	if !s.failing {
		s.opts.Log.WithError(err).WithField("topic", queue.topic).Error("no file for the next record")
	}
	s.failing = true
	return CreateMappedFileFailed
}

// append encodes one record at the log's end. Caller holds mu.
func (s *Store) append(buf []byte, at int64, rec *message.Record, queue *ConsumeQueue) Unit {
	rec.StoreTimestamp, rec.CommitLogOffset, rec.QueueOffset = s.lastStamp, at, 0
	if indexed(rec.SysFlag) {
		rec.QueueOffset = queue.next
		queue.next++
	}
	size := message.Encode(buf, rec)
	s.log.end.Store(at + int64(size))
	s.puts.Add(1)
	s.putSize.Add(int64(size))
	return Unit{CommitLogOffset: at, Size: int32(size), TagsCode: rec.TagsCode}
}

// publish makes a record readable, or hands it to the group commit. The log's end is past
// the record already: whoever sees the unit can read it. Caller holds mu.
func (s *Store) publish(queue *ConsumeQueue, rec *message.Record, unit Unit) {
	if s.opts.SyncFlush {
		if !indexed(rec.SysFlag) {
			queue = nil
		}
		s.pending = append(s.pending, waiting{queue: queue, unit: unit, offset: rec.QueueOffset})
		return
	}
	if indexed(rec.SysFlag) {
		// begin made the room: nothing is left to fail.
		_ = queue.put(rec.QueueOffset, unit)
	}
	s.published.Store(unit.CommitLogOffset + int64(unit.Size))
}

func (s *Store) arrived(queue *ConsumeQueue, rec *message.Record) {
	if indexed(rec.SysFlag) {
		unit := Unit{CommitLogOffset: rec.CommitLogOffset, Size: int32(message.EncodedLen(rec)), TagsCode: rec.TagsCode}
		s.notify(queue, rec.QueueOffset, unit)
	}
}

func (s *Store) notify(queue *ConsumeQueue, offset int64, unit Unit) {
	if s.opts.OnArrival != nil {
		s.opts.OnArrival(Arrival{Topic: queue.topic, QueueID: queue.queueID, Offset: offset, Unit: unit})
	}
}
