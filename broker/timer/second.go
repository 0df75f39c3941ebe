package timer

import (
	"cmp"
	"hash/maphash"
	"slices"
	"unsafe"

	wheel "github.com/wheelmq/wheelmq/store/timer"
)

// buckets are the instants of a second at which its messages may be due: 1 to 1,000 ms after its
// begin, and 0 for what came too late for its own.
const buckets = 1001

const noEntry = int32(-1)

// entry is a message or a cancel of a second in memory.
type entry struct {
	record    *byte // first byte of the stored record, size of them; nil: it is in the log
	logOffset int64 // bytes
	size      int32 // of the record, bytes
	next      int32 // the next entry of its bucket, or cancel of its hash
	ms        int16 // due, from the second's begin
}

// bytes are the stored bytes of a record that the Timeline has, nil when the log has them.
func (e *entry) bytes() []byte {
	if e.record == nil {
		return nil
	}
	return unsafe.Slice(e.record, e.size)
}

// chains put the entries of a second in the order of their instants.
type chains struct {
	head, tail [buckets]int32
	unsorted   [buckets]bool // an entry came before one that had arrived earlier
}

// second is one that is loaded: what is due in it is in memory.
type second struct {
	number  int64
	entries []entry
	chains  *chains // nil: nothing is left
	at      int     // no bucket below has entries
	left    int     // entries in chains
	reader  *wheel.Reader
	// cancels are chains of entries by the hash of the key that they remove.
	cancels map[uint64]int32
	refs    map[int64]struct{} // log offsets of messages that are removed one by one

	loading bool          // it is not all in memory
	later   []wheel.Entry // messages that came meanwhile
	copied  int64         // bytes of records that are not in mapped files

	begun    bool  // a copy may have been made
	from     int64 // none of its copies lies below this log offset
	inFlight int   // copies on their way
	held     int   // entries that wait for a target that refuses
	// repairing: what damage has taken of it is looked for in the log.
	repairing bool
	removed   map[*topicCount]int64
}

// bucket is the number of the chain that an entry is in.
func (e *entry) bucket() int { return min(max(int(e.ms), 0), buckets-1) }

func newSecond(number int64) *second { return &second{number: number} }

// beginMs is the instant from which the second's ms count.
func (s *second) beginMs() int64 { return s.number * 1000 }

// endMs is the instant at which the last of the second's messages is due.
func (s *second) endMs() int64 { return (s.number + 1) * 1000 }

func (s *second) dueOf(e *entry) int64 { return s.beginMs() + int64(e.ms) }

// add takes in a message.
func (s *second) add(item *wheel.Item) {
	e := entry{logOffset: item.LogOffset, size: item.Size, ms: int16(item.Due - s.beginMs())}
	if len(item.Record) > 0 {
		e.record = unsafe.SliceData(item.Record)
	}
	s.entries = append(s.entries, e)
	s.link(int32(len(s.entries) - 1))
}

// link puts an entry behind those of its instant.
func (s *second) link(i int32) {
	if s.chains == nil {
		s.chains, s.at = &chains{}, buckets
		for b := range s.chains.head {
			s.chains.head[b], s.chains.tail[b] = noEntry, noEntry
		}
	}
	c, e := s.chains, &s.entries[i]
	b := e.bucket()
	e.next = noEntry
	if c.head[b] == noEntry {
		c.head[b] = i
	} else {
		last := &s.entries[c.tail[b]]
		last.next = i
		c.unsorted[b] = c.unsorted[b] || last.logOffset > e.logOffset
	}
	c.tail[b] = i
	s.at = min(s.at, b)
	s.left++
}

// first is the entry that is due first, of the same instant the one that arrived first.
func (s *second) first() *entry {
	if s.left == 0 {
		return nil
	}
	c := s.chains
	for c.head[s.at] == noEntry {
		s.at++
	}
	if c.unsorted[s.at] {
		s.sort(s.at)
	}
	return &s.entries[c.head[s.at]]
}

// pop takes the first entry out of its chain and returns its index.
func (s *second) pop() int32 {
	c := s.chains
	i := c.head[s.at]
	if c.head[s.at] = s.entries[i].next; c.head[s.at] == noEntry {
		c.tail[s.at] = noEntry
	}
	if s.left--; s.left == 0 {
		s.chains = nil
	}
	return i
}

// sort puts a bucket's entries in the order in which they arrived.
func (s *second) sort(bucket int) {
	var list []int32
	for i := s.chains.head[bucket]; i != noEntry; i = s.entries[i].next {
		list = append(list, i)
	}
	slices.SortFunc(list, func(a, b int32) int { return cmp.Compare(s.entries[a].logOffset, s.entries[b].logOffset) })
	for n, i := range list[1:] {
		s.entries[list[n]].next = i
	}
	s.entries[list[len(list)-1]].next = noEntry
	s.chains.head[bucket], s.chains.tail[bucket] = list[0], list[len(list)-1]
	s.chains.unsorted[bucket] = false
}

// due is the instant of the first entry, never when nothing is left.
func (s *second) due() int64 {
	if e := s.first(); e != nil {
		return s.dueOf(e)
	}
	return never
}

// finished tells that nothing of the second is left to be done.
func (s *second) finished() bool {
	return s.left == 0 && s.inFlight == 0 && s.held == 0 && !s.repairing
}

// repairHoldMs is how long a second waits for what damage has taken of it, ms behind its end: what removes
// a message may be among that.
const repairHoldMs = 5_000

// heldBack tells that nothing of the second is delivered now.
func (s *second) heldBack(lineNow int64) bool {
	return s.repairing && lineNow < s.endMs()+repairHoldMs
}

// hasCancels tells whether messages of the second may be removed.
func (s *second) hasCancels() bool { return len(s.cancels) > 0 || len(s.refs) > 0 }

// trim lets go of the memory of a second that is finished but not done: one before it is not.
func (s *second) trim() {
	if len(s.cancels) == 0 {
		s.entries = nil
	}
}

func (s *second) close() {
	if s.reader != nil {
		s.reader.Close()
		s.reader = nil
	}
}

var keySeed = maphash.MakeSeed()

// keyHash is that of what a cancel removes: a key of a topic.
func keyHash(topicName, key []byte) uint64 {
	return maphash.Bytes(keySeed, topicName) ^ (maphash.Bytes(keySeed, key)*0x9E3779B97F4A7C15 + 1)
}

// addCancel takes in the record of a cancel.
func (s *second) addCancel(item *wheel.Item, hash uint64) {
	if s.cancels == nil {
		s.cancels = make(map[uint64]int32)
	}
	e := entry{logOffset: item.LogOffset, size: item.Size, next: noEntry}
	if len(item.Record) > 0 {
		e.record = unsafe.SliceData(item.Record)
	}
	if i, ok := s.cancels[hash]; ok {
		e.next = i
	}
	s.entries = append(s.entries, e)
	s.cancels[hash] = int32(len(s.entries) - 1)
}
