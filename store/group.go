package store

import (
	"runtime/debug"
	"slices"

	"github.com/wheelmq/wheelmq/message"
)

const (
	// groupRecords and groupBytes are when a Group is full: putting it keeps others from the log for
	// some tens of µs at most, unless one record is larger.
	groupRecords = 128
	groupBytes   = 128 << 10
	// groupKept bounds the memory that an empty Group keeps, bytes.
	groupKept = 1 << 20
)

// Group collects records of any topics and queues that are put one behind the other, in one turn at
// the log. Each stands for itself. It belongs to one goroutine, which uses it again and again.
type Group struct {
	encoded []byte
	members []member
	queues  []*ConsumeQueue // that members are for
	clients bool            // not all records are Internal
	stamp   int64           // when they were stored, ms
}

// member is a record of a Group, which is encoded in it.
type member struct {
	at, size int // in encoded, bytes
	queue    int // of queues
	indexed  bool
	offset   int64 // units, in its queue
	unit     Unit
}

// Len is how many records there are in the group.
func (g *Group) Len() int { return len(g.members) }

// Result tells where a record of the group went that PutGroup has stored.
func (g *Group) Result(i int) PutResult {
	m := &g.members[i]
	return PutResult{QueueOffset: m.offset, CommitLogOffset: m.unit.CommitLogOffset, StoreTimestamp: g.stamp, Size: m.unit.Size}
}

// Full tells that the group should be put before another record is added. It holds one more of
// any size nevertheless.
func (g *Group) Full() bool { return len(g.members) >= groupRecords || len(g.encoded) >= groupBytes }

// Reset makes the group an empty one.
func (g *Group) Reset() {
	clear(g.queues)
	g.encoded, g.members, g.queues, g.clients = g.encoded[:0], g.members[:0], g.queues[:0], false
	if cap(g.encoded) > groupKept {
		g.encoded = nil
	}
}

// Collect adds a record to a group, which keeps nothing of it. The status is PutOK, or why such a
// record is never stored.
func (s *Store) Collect(g *Group, rec *message.Record) Status {
	if status := s.check(rec); status != PutOK {
		return status
	}
	s.fillHost(rec)
	size := message.EncodedLen(rec)
	if size > s.largest(rec) {
		return MessageIllegal
	}
	m := member{at: len(g.encoded), size: size, indexed: indexed(rec.SysFlag)}
	g.encoded = slices.Grow(g.encoded, size)
	rec.QueueOffset, rec.CommitLogOffset, rec.StoreTimestamp = 0, 0, 0
	message.Encode(g.encoded[m.at:m.at+size], rec)
	if !rec.TagsKnown {
		rec.TagsCode = s.opts.TagsCode(rec.Topic, rec.Properties)
	}
	m.queue = g.queueOf(s, rec)
	m.unit = Unit{Size: int32(size), TagsCode: rec.TagsCode}
	g.encoded = g.encoded[:m.at+size]
	g.members = append(g.members, m)
	g.clients = g.clients || !rec.Internal
	return PutOK
}

// queueOf is the number of a record's queue in the group.
func (g *Group) queueOf(s *Store, rec *message.Record) int {
	for i, q := range g.queues {
		if q.queueID == rec.QueueID && q.topic == rec.Topic {
			return i
		}
	}
	g.queues = append(g.queues, s.queues.findOrCreate(rec.Topic, rec.QueueID))
	return len(g.queues) - 1
}

// PutGroup puts the records of a group, in their order, up to the first that finds no room or a
// store that takes nothing: the result is that of this one, or of the last. stored is how many
// there are in the log. done is told once for all of these, when pending is true; see Log.
func (s *Store) PutGroup(g *Group, done Completion) (stored int, result PutResult, pending bool) {
	stored = s.putGroup(g, done, &result)
	if stored == 0 {
		return 0, result, false
	}
	if !s.wakeNext() {
		return stored, result, done != nil
	}
	for i := range g.members[:stored] {
		if m := &g.members[i]; m.indexed {
			s.notify(g.queues[m.queue], m.offset, m.unit)
		}
	}
	return stored, result, false
}

func (s *Store) putGroup(g *Group, done Completion, result *PutResult) (stored int) {
	s.mu.Lock()
	defer func() {
		defer s.mu.Unlock()
		if s.afterFault(recover()) {
			// What is in the log is found there when it is opened again.
			stored, *result = 0, s.refused(ServiceNotAvailable)
		}
	}()
	debug.SetPanicOnFault(true)
	if !s.accepts(!g.clients) {
		*result = s.refused(ServiceNotAvailable)
		return 0
	}
	s.takeStamp()
	g.stamp = s.lastStamp
	for ; stored < len(g.members); stored++ {
		m := &g.members[stored]
		queue, buf, at, status := s.room(g.queues[m.queue], m.size, 1, !g.clients)
		if status != PutOK {
			*result = s.refused(status)
			break
		}
		g.queues[m.queue], m.unit.CommitLogOffset = queue, at
		s.appendEncoded(buf, g.encoded[m.at:m.at+m.size], m, queue)
		*result = g.Result(stored)
	}
	if stored > 0 {
		s.publishGroup(g, stored)
		s.awaitCommit(done, g.Result(stored-1))
	}
	return stored
}

// appendEncoded puts an encoded record at the log's end. Caller holds mu.
func (s *Store) appendEncoded(buf, encoded []byte, m *member, queue *ConsumeQueue) {
	m.offset = 0
	if m.indexed {
		m.offset = queue.next
		queue.next++
	}
	copy(buf, encoded)
	message.Patch(buf, m.offset, m.unit.CommitLogOffset, s.lastStamp)
	s.log.end.Store(m.unit.CommitLogOffset + int64(m.size))
	s.puts.Add(1)
	s.putSize.Add(int64(m.size))
}

// publishGroup makes the first records of a group readable, or hands them to the group commit.
// Caller holds mu.
func (s *Store) publishGroup(g *Group, stored int) {
	if s.opts.SyncFlush {
		for i := range g.members[:stored] {
			m := &g.members[i]
			w := waiting{unit: m.unit, offset: m.offset}
			if m.indexed {
				w.queue = g.queues[m.queue]
			}
			s.pending = append(s.pending, w)
		}
		return
	}
	for i, q := range g.queues {
		q.putMembers(g.members[:stored], i)
	}
	last := &g.members[stored-1].unit
	s.published.Store(last.CommitLogOffset + int64(last.Size))
}

// putMembers publishes the units of those members of a group that are for this queue, its number
// in there.
func (q *ConsumeQueue) putMembers(members []member, number int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range members {
		if m := &members[i]; m.queue == number && m.indexed {
			// There is room: nothing is left to fail.
			_ = q.publish(m.offset, m.unit)
		}
	}
}
