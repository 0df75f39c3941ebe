package inflight

import (
	"sync"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker/client"
	"github.com/wheelmq/wheelmq/broker/filter"
	"github.com/wheelmq/wheelmq/broker/longpoll"
	"github.com/wheelmq/wheelmq/broker/subscription"
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/store"
)

type (
	clients interface {
		Group(name []byte) *client.ConsumerGroup
		Groups(topic string) []string
	}
	groups interface {
		Get(group string) *subscription.Config
	}
	topics interface {
		Get(name []byte) *topic.Config
	}
	offsets interface {
		// Query is -1 when nothing was committed.
		Query(group, topic []byte, queueID int32) int64
	}
	queues interface {
		Queue(topic []byte, queueID int32) *store.ConsumeQueue
		MaxCommitLogOffset() int64
		filter.Records
	}
	polls interface {
		Held(topic string, queueID int32) []longpoll.Held
		Nudge(topic string, queueID int32, group string) (nudged int)
	}
)

// Options are what a Tracker looks at.
type Options struct {
	BrokerName string // as clients know the queues
	Clients    clients
	Groups     groups
	Topics     topics
	Offsets    offsets
	Store      queues
	Polls      polls
	// InFlight tells whether a message is in flight to a group that pops, and since which instant.
	InFlight func(at Place, offset int64) (popTime int64, ok bool)
	Wire     clock.Clock // paces questions to clients
	Log      logrus.FieldLogger
}

// Place is a queue as one consumer group reads it.
type Place struct {
	Group, Topic string
	QueueID      int32
}

// Tracker notes what is given out. Its methods are safe for concurrent use.
type Tracker struct {
	opts  Options
	kick  chan struct{} // Changed
	pulls chan struct{} // a pull came

	mu       sync.Mutex // guards what follows; held over no call
	places   map[Place]*place
	sentBack map[string]int64 // messages, by group
	pops     map[string]*pops // by group
}

// place is a group's progress in a queue; offsets are units.
type place struct {
	next  int64 // given out below
	given int64 // messages, each once
	left  int64 // given, to channels that are gone
	asks  int64 // pulls so far
	owner uint64
	chans map[uint64]*channel

	nudge pace
}

// channel is one connection's part of a place. Members of a group that broadcasts have each
// their own progress.
type channel struct {
	next  int64 // given out below
	given int64 // messages, each once
	done  int64 // below it a member of a group that broadcasts has finished
}

// New returns a Tracker that knows of nothing.
func New(opts Options) *Tracker {
	return &Tracker{
		opts: opts, kick: make(chan struct{}, 1), pulls: make(chan struct{}, 1), places: make(map[Place]*place), sentBack: make(map[string]int64),
		pops: make(map[string]*pops),
	}
}

// Changed receives when there may be less in flight than before: a client has asked for more.
func (t *Tracker) Changed() <-chan struct{} { return t.kick }

func (t *Tracker) changed() {
	for _, c := range []chan struct{}{t.kick, t.pulls} {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// Asked notes a pull from an offset on: its client has taken in what it was given before.
func (t *Tracker) Asked(at Place, conn uint64, offset int64) {
	t.mu.Lock()
	p, c := t.find(at, conn)
	p.asks++
	p.owner = conn
	// Whoever goes back has the messages behind it again.
	c.done = min(c.done, offset)
	t.mu.Unlock()
	t.changed()
}

// Given notes the answer to a pull from an offset on: so many messages below next.
func (t *Tracker) Given(at Place, conn uint64, from, next, messages int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, c := t.find(at, conn)
	p.given += fresh(from, next, p.next, messages)
	c.given += fresh(from, next, c.next, messages)
	p.next, c.next = max(p.next, next), max(c.next, next)
}

// fresh is how many of the messages that lie in [from, next) were not given out before, when all
// below known were.
func fresh(from, next, known, messages int64) int64 {
	if from >= known {
		return messages
	}
	return min(messages, max(0, next-known))
}

// SentBack notes that a consumer of a group gave a message back (CONSUMER_SEND_MSG_BACK).
func (t *Tracker) SentBack(group string) {
	t.mu.Lock()
	t.sentBack[group]++
	t.mu.Unlock()
	t.changed()
}

// ConnClosed forgets a connection.
func (t *Tracker) ConnClosed(conn uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.places {
		if c := p.chans[conn]; c != nil {
			p.left += c.given
			delete(p.chans, conn)
		}
	}
	for _, p := range t.pops {
		p.left(conn)
	}
}

// DeleteTopic forgets a topic. Like DeleteGroup it may be called without a Tracker.
func (t *Tracker) DeleteTopic(topic string) {
	t.forget(func(at Place) bool { return at.Topic == topic })
}

// DeleteGroup forgets a group.
func (t *Tracker) DeleteGroup(group string) {
	t.forget(func(at Place) bool { return at.Group == group })
}

func (t *Tracker) forget(gone func(Place) bool) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for at := range t.places {
		if gone(at) {
			delete(t.places, at)
		}
	}
	for _, p := range t.pops {
		p.forget(gone)
	}
}

// find returns the state of a place and of a connection in it. t.mu is held.
func (t *Tracker) find(at Place, conn uint64) (*place, *channel) {
	p := t.places[at]
	if p == nil {
		p = &place{chans: make(map[uint64]*channel)}
		t.places[at] = p
	}
	c := p.chans[conn]
	if c == nil {
		c = &channel{}
		p.chans[conn] = c
	}
	return p, c
}

// committed is below which offset a group that divides the queues has finished with one.
func (t *Tracker) committed(at Place) int64 {
	return max(0, t.opts.Offsets.Query([]byte(at.Group), []byte(at.Topic), at.QueueID))
}

// end is where a queue ends for whoever wants what f lets pass, at an offset that is known to be
// reached: what follows there and is not wanted does not count. nil lets everything pass.
func (t *Tracker) end(at Place, reached int64, f *filter.Filter) (end int64) {
	q := t.opts.Store.Queue([]byte(at.Topic), at.QueueID)
	if q == nil {
		return 0
	}
	end = q.Max()
	if f == nil || f.IsAll() {
		return end
	}
	for ; end > max(reached, q.Min()); end-- {
		if u, ok := q.Unit(end - 1); !ok || f.MatchStored(t.opts.Store, u) {
			break
		}
	}
	return end
}
