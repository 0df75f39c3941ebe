package longpoll

import (
	"github.com/wheelmq/wheelmq/broker/filter"
	"github.com/wheelmq/wheelmq/store"
)

// Reason says why a waiter is resumed.
type Reason uint8

// Reasons.
const (
	Arrived  Reason = iota // a record its filter wants came to its queue, or Resume was asked for
	TimedOut               // its deadline is reached
	Gone                   // its connection is closed: there is no one to answer
	Stopping               // the server is about to stop: the client is to come again later
	Nudged                 // somebody wants to hear of its client, which asks again at once
)

// Resumer runs the held request again, once, on a goroutine of the service.
type Resumer interface {
	Resume(reason Reason)
}

// Waiter is one held request. Fill the exported fields, Park it, and leave it alone: it
// comes back through Resumer.Resume exactly once.
type Waiter struct {
	Topic    string
	QueueID  int32
	Offset   int64          // the first queue offset it has not seen
	Filter   *filter.Filter // nil wants everything
	Deadline int64          // ms of the wire clock
	ConnID   uint64
	Group    string // the consumer group that asks
	Kind     Kind
	Resumer  Resumer

	state     state
	reason    Reason
	heapIndex int
	queue     *bucket
	// Neighbours in the queue's and in the connection's list.
	queuePrev, queueNext *Waiter
	connPrev, connNext   *Waiter
}

type state uint8

const (
	idle state = iota
	parked
	ready // on its way, or back
)

// Held is a parked waiter as others see it.
type Held struct {
	ConnID uint64
	Group  string
	Offset int64
}

func (w *Waiter) wants(a store.Arrival, records filter.Records) bool {
	return a.Offset >= w.Offset && (w.Filter == nil || w.Filter.MatchStored(records, a.Unit))
}

type bucketKey struct {
	topic   string
	queueID int32
}

// bucket is the waiters of one queue, the first to come first.
type bucket struct {
	key        bucketKey
	line       *line // nil: they are pulls
	head, tail *Waiter
	n          int
}

func (b *bucket) push(w *Waiter) {
	w.queue, w.queuePrev, w.queueNext = b, b.tail, nil
	if b.tail != nil {
		b.tail.queueNext = w
	} else {
		b.head = w
	}
	b.tail = w
	b.n++
}

func (b *bucket) remove(w *Waiter) {
	if w.queuePrev != nil {
		w.queuePrev.queueNext = w.queueNext
	} else {
		b.head = w.queueNext
	}
	if w.queueNext != nil {
		w.queueNext.queuePrev = w.queuePrev
	} else {
		b.tail = w.queuePrev
	}
	w.queue, w.queuePrev, w.queueNext = nil, nil, nil
	b.n--
}

// deadlines is a heap of waiters, the next due first.
type deadlines []*Waiter

func (d deadlines) Len() int           { return len(d) }
func (d deadlines) Less(i, j int) bool { return d[i].Deadline < d[j].Deadline }
func (d deadlines) Swap(i, j int) {
	d[i], d[j] = d[j], d[i]
	d[i].heapIndex, d[j].heapIndex = i, j
}

// Push implements heap.Interface.
func (d *deadlines) Push(x any) {
	w := x.(*Waiter)
	w.heapIndex = len(*d)
	*d = append(*d, w)
}

// Pop implements heap.Interface.
func (d *deadlines) Pop() any {
	old := *d
	w := old[len(old)-1]
	old[len(old)-1] = nil
	*d = old[:len(old)-1]
	return w
}
