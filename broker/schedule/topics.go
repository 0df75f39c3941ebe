package schedule

import (
	"sync"
	"sync/atomic"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
)

// countAtOnce is how many messages are counted between two saves, or by one look, at most: a server with more of
// them knows how many pend for each topic a few seconds after the first look.
const countAtOnce = 1 << 18

// topicCount is how many messages pend for a real topic.
type topicCount struct {
	name string
	n    int64
}

// topicCounts count pending messages by real topic. A queue's unit does not name it, so that the records are
// read, once each, behind the driver's back: level.counted says how far. What is delivered before it is counted
// is never read, and nothing is before somebody has looked.
type topicCounts struct {
	wanted atomic.Bool // somebody has looked

	reading sync.Mutex // held by who counts; guards what follows
	units   [batch]store.Unit
	pending [batch]bool
	names   [batch]string
	known   map[string]string

	// What follows is guarded by Service.mu.
	byName map[string]*topicCount
	last   *topicCount
	anew   bool // something was lost: begin again
}

func (t *topicCounts) init() {
	t.known, t.byName = make(map[string]string), make(map[string]*topicCount)
}

// of is the count of a topic. The caller holds Service.mu.
func (t *topicCounts) of(name string) *topicCount {
	if t.last != nil && t.last.name == name {
		return t.last
	}
	c := t.byName[name]
	if c == nil {
		c = &topicCount{name: name}
		t.byName[name] = c
	}
	t.last = c
	return c
}

// share is how many messages of a flight, one behind the other, are for one topic; "" is none that is known.
type share struct {
	topic string
	n     int64
}

// carry notes that the flight's next message is for a topic.
func (f *flight) carry(topic string) {
	if last := len(f.shares) - 1; last >= 0 && f.shares[last].topic == topic {
		f.shares[last].n++
		return
	}
	f.shares = append(f.shares, share{topic, 1})
}

// landed takes the messages of a flight out of the counts, as far as they were counted. The caller holds
// Service.mu.
func (t *topicCounts) landed(f *flight, counted int64) {
	at := f.from
	for _, s := range f.shares {
		end := min(at+s.n, f.to)
		n := max(0, min(end, counted)-at)
		if s.topic != "" {
			t.of(s.topic).n -= n
		} else if n > 0 {
			t.anew = true
		}
		at = end
	}
}

// count takes in what pends and is not counted yet, at most so many messages. Who comes while another counts
// has to do with what is known.
func (s *Service) count(most int) {
	if !s.topics.reading.TryLock() {
		return
	}
	defer s.topics.reading.Unlock()
	s.mu.Lock()
	if s.topics.anew {
		s.countAnew()
	}
	s.mu.Unlock()
	for _, l := range s.levels {
		for most > 0 {
			n := s.countSome(l)
			if n == 0 {
				break
			}
			most -= n
		}
	}
}

// countAnew forgets what is counted. The caller holds mu.
func (s *Service) countAnew() {
	s.topics.anew = false
	for _, c := range s.topics.byName {
		c.n = 0
	}
	for _, l := range s.levels {
		l.counted = l.backlog.lowest()
	}
}

// countSome counts the next units of a level and returns how many they are. The caller holds topics.reading.
func (s *Service) countSome(l *level) int {
	q := s.opts.Log.Queue(topicSchedule, l.queueID)
	if q == nil {
		return 0
	}
	s.mu.Lock()
	from := max(l.counted, q.Min())
	s.mu.Unlock()
	n, err := q.Units(from, s.topics.units[:])
	if err != nil || n == 0 {
		return 0
	}
	s.readTopics(l, from, n)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.topics.anew {
		return 0
	}
	l.counted = from + int64(n)
	l.backlog.eachPending(from, l.counted, func(offset int64) {
		if name := s.topics.names[offset-from]; name != "" {
			s.topics.of(name).n++
		}
	})
	return n
}

// readTopics looks up where the messages go that pend of n units of a level. The caller holds topics.reading.
func (s *Service) readTopics(l *level, from int64, n int) {
	t := &s.topics
	clear(t.pending[:])
	s.mu.Lock()
	l.backlog.eachPending(from, from+int64(n), func(offset int64) { t.pending[offset-from] = true })
	s.mu.Unlock()
	for i := range n {
		if t.names[i] = ""; t.pending[i] {
			// One that cannot be read is told of when it is due.
			t.names[i], _ = s.realTopic(&t.units[i])
		}
	}
}

// realTopic is the topic that a pending record goes to. The caller holds topics.reading.
func (s *Service) realTopic(u *store.Unit) (name string, err error) {
	defer store.CatchFault(&err)
	slice, err := s.opts.Log.Record(u.CommitLogOffset, u.Size)
	if err != nil {
		return "", err
	}
	defer slice.Release()
	v, err := message.Parse(slice.Bytes)
	if err != nil {
		return "", err
	}
	text, _ := message.PropertyGet(v.Properties, message.PropertyRealTopic)
	name, ok := s.topics.known[string(text)]
	if !ok {
		name = string(text)
		s.topics.known[name] = name
	}
	return name, nil
}

// PendingOf lists how many messages of delay levels pend by real topic, a retry's being the group's retry topic;
// 0 when some did. What came in the last moment may lack.
func (s *Service) PendingOf() map[string]int64 {
	s.topics.wanted.Store(true)
	s.count(countAtOnce)
	s.mu.Lock()
	defer s.mu.Unlock()
	counts := make(map[string]int64, len(s.topics.byName))
	for name, c := range s.topics.byName {
		counts[name] = c.n
	}
	return counts
}
