package offset

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker/persist"
	"github.com/wheelmq/wheelmq/broker/rewind"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/health"
)

// None is the answer for a queue without an offset.
const None int64 = -1

// versionStep is how many commits make one step of the data version
// (consumerOffsetUpdateVersionStep, RocketMQ 5.5.0).
const versionStep = 500

// separator stands between topic and group in the keys of consumerOffset.json. Neither
// name may contain it.
const separator = '@'

// Options configure a Table.
type Options struct {
	Wire   clock.Clock // paces the saves
	Store  clock.Clock // stamps the data version
	Log    logrus.FieldLogger
	Config persist.Dir // of consumerOffset.json
	// FlushMs is flushConsumerOffsetInterval: how long a change waits for its save, at most
	// 500, which 0 stands for.
	FlushMs int64
	// End is where a queue ends, 0 for one that does not exist. Offsets are held to it when
	// they are loaded; nil: they are not.
	End func(topic string, queueID int32) int64
	// Before is called before offsets are saved, which are not when it fails: what they are past is durable
	// first. nil: nothing is to be done.
	Before func() error
	// Online tells whether a group has members that subscribe to a topic: they remember how far they
	// were when it is deleted. nil: nobody is.
	Online func(group, topic string) bool
	// Own is the group whose progress is the broker's own: only CommitOwn sets it. Nothing: there is none.
	Own string
	// Rewound, when not nil, is what clients remember of a state that a test took back: commits of
	// that state, and past the end of a queue, are left out.
	Rewound     *rewind.Memory
	Differences *difference.Set       // may be nil: all on
	Metrics     prometheus.Registerer // may be nil
	Health      *health.Registry      // may be nil
}

// Table is all groups' offsets. Its methods are safe for concurrent use; Commit and
// Query do not allocate for a queue that is known.
type Table struct {
	opts Options

	mu   sync.RWMutex // guards rows, not their contents
	rows map[string]*row

	resets   atomic.Int64 // queues whose reset is not done
	commits  atomic.Int64 // since the start, for the data version
	version  dataVersion  // guarded by saveMu
	changes  atomic.Int64 // grows with everything that Save must write
	saved    atomic.Int64 // value of changes at the last save
	flushMs  atomic.Int64 // how long a change waits for its save
	saveMu   sync.Mutex   // one save at a time
	saveErr  atomic.Pointer[error]
	asleep   atomic.Bool   // run waits for dirty
	dirty    chan struct{} // there is something to save
	stop     chan struct{}
	stopOnce sync.Once
	started  sync.WaitGroup
}

// row is one group's progress in one topic.
type row struct {
	topic, group string

	mu     sync.Mutex // guards queues
	queues map[int32]*progress
}

type progress struct {
	committed int64 // None before the first commit
	pulled    int64 // next offset of the last pull, None before the first
	reset     resetState
}

// Commit sets a group's offset in a queue, backwards too; a negative one is taken as 0
// (request code 15, RocketMQ 5.5.0). It is ignored while a Reset is not done, and refused for
// the broker's own group.
func (t *Table) Commit(group, topic []byte, queueID int32, offset int64) Taken {
	if t.opts.Own != "" && string(group) == t.opts.Own {
		if t.opts.Differences != nil {
			t.opts.Differences.Use(difference.OwnOffsets)
		}
		return Refused
	}
	return t.commit(group, topic, queueID, offset)
}

// CommitOwn sets an offset of the broker's own group.
func (t *Table) CommitOwn(topic []byte, queueID int32, offset int64) Taken {
	return t.commit([]byte(t.opts.Own), topic, queueID, offset)
}

// Owned tells whether a group is the broker's own, whose offsets clients cannot set.
func (t *Table) Owned(group string) bool { return t.opts.Own != "" && group == t.opts.Own }

func (t *Table) commit(group, topic []byte, queueID int32, offset int64) Taken {
	offset = max(offset, 0)
	if t.opts.Rewound != nil && (t.opts.Rewound.Has(string(group), string(topic), queueID) || offset > t.opts.End(string(topic), queueID)) {
		return Ignored
	}
	r := t.row(group, topic)
	r.mu.Lock()
	p := r.queue(queueID)
	if taken := p.taken(offset); taken != Stored {
		r.mu.Unlock()
		return taken
	}
	changed := p.committed != offset
	p.committed = offset
	r.mu.Unlock()
	t.commits.Add(1)
	if changed {
		t.changed()
	}
	return Stored
}

// Pulled notes where the group's next pull from a queue begins. It is not persisted.
func (t *Table) Pulled(group, topic []byte, queueID int32, next int64) {
	r := t.row(group, topic)
	r.mu.Lock()
	r.queue(queueID).pulled = next
	r.mu.Unlock()
}

// EachPulled visits where the pulls of every group begin next.
func (t *Table) EachPulled(visit func(group, topic string, queueID int32, next int64)) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, r := range t.rows {
		r.mu.Lock()
		for queueID, p := range r.queues {
			if p.pulled != None {
				visit(r.group, r.topic, queueID, p.pulled)
			}
		}
		r.mu.Unlock()
	}
}

// Each visits every queue of which a group has a committed offset, or has pulled; None is what there is
// not.
func (t *Table) Each(visit func(group, topic string, queueID int32, committed, pulled int64)) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, r := range t.rows {
		r.mu.Lock()
		for queueID, p := range r.queues {
			visit(r.group, r.topic, queueID, p.committed, p.pulled)
		}
		r.mu.Unlock()
	}
}

// Rows is how many groups have offsets, once for each topic.
func (t *Table) Rows() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.rows)
}

// EachCommitted visits the committed offsets of every group in a topic.
func (t *Table) EachCommitted(topic string, visit func(group string, queueID int32, committed int64)) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, r := range t.rows {
		if r.topic != topic {
			continue
		}
		r.mu.Lock()
		for queueID, p := range r.queues {
			if p.committed != None {
				visit(r.group, queueID, p.committed)
			}
		}
		r.mu.Unlock()
	}
}

// Query returns a group's committed offset in a queue, or None.
func (t *Table) Query(group, topic []byte, queueID int32) int64 {
	committed, _ := t.progress(group, topic, queueID)
	return committed
}

// QueryPulled returns where the group's next pull begins, or None.
func (t *Table) QueryPulled(group, topic []byte, queueID int32) int64 {
	_, pulled := t.progress(group, topic, queueID)
	return pulled
}

// Groups returns the groups that have an offset in a topic, sorted.
func (t *Table) Groups(topic string) []string {
	return t.collect(func(r *row) (string, bool) { return r.group, r.topic == topic })
}

// Topics returns the topics in which a group has an offset, sorted.
func (t *Table) Topics(group string) []string {
	return t.collect(func(r *row) (string, bool) { return r.topic, r.group == group })
}

// DeleteTopic forgets every group's offsets in a topic. Clients that are online go on where they were
// when it is created again, which would be past its end: they are sent to its beginning.
func (t *Table) DeleteTopic(topic string) {
	var pulled []*row
	t.delete(func(r *row) bool {
		if r.topic == topic && t.opts.Online != nil && t.opts.Online(r.group, topic) {
			pulled = append(pulled, r)
		}
		return r.topic == topic
	})
	for _, old := range pulled {
		t.beginAnew(old)
	}
}

// DeleteGroup forgets a group's offsets in all topics.
func (t *Table) DeleteGroup(group string) {
	t.delete(func(r *row) bool { return r.group == group })
}

// row returns the progress of a group in a topic and creates it when it is new.
func (t *Table) row(group, topic []byte) *row {
	if r := t.find(group, topic); r != nil {
		return r
	}
	key := string(topic) + string(separator) + string(group)
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.rows[key]
	if r == nil {
		r = newRow(string(topic), string(group))
		t.rows[key] = r
	}
	return r
}

func newRow(topic, group string) *row {
	return &row{topic: topic, group: group, queues: make(map[int32]*progress)}
}

func (t *Table) find(group, topic []byte) *row { return find(t, group, topic) }

// find returns the progress of a group in a topic, or nil. It does not allocate.
func find[S []byte | string](t *Table, group, topic S) *row {
	var stack [288]byte // names of the largest legal lengths fit
	key := append(stack[:0], topic...)
	key = append(key, separator)
	key = append(key, group...)
	t.mu.RLock()
	r := t.rows[string(key)]
	t.mu.RUnlock()
	return r
}

func (t *Table) progress(group, topic []byte, queueID int32) (committed, pulled int64) {
	r := t.find(group, topic)
	if r == nil {
		return None, None
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.queues[queueID]; p != nil {
		return p.committed, p.pulled
	}
	return None, None
}

// queue returns a queue's progress. r.mu is held.
func (r *row) queue(queueID int32) *progress {
	p := r.queues[queueID]
	if p == nil {
		p = &progress{committed: None, pulled: None}
		r.queues[queueID] = p
	}
	return p
}

// hasCommits tells whether any queue has a committed offset.
func (r *row) hasCommits() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.queues {
		if p.committed != None {
			return true
		}
	}
	return false
}

func (t *Table) collect(pick func(*row) (string, bool)) []string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	names := []string{}
	for _, r := range t.rows {
		if name, ok := pick(r); ok && r.hasCommits() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (t *Table) delete(match func(*row) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := len(t.rows)
	maps.DeleteFunc(t.rows, func(_ string, r *row) bool {
		if !match(r) {
			return false
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, p := range r.queues {
			t.forgetReset(p)
		}
		return true
	})
	if len(t.rows) != before {
		t.changed()
	}
}

// splitKey cuts "topic@group".
func splitKey(key string) (topic, group string, ok bool) {
	return strings.Cut(key, string(separator))
}
