package processor

import (
	"math/rand/v2"
	"sync"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker/inflight"
	"github.com/wheelmq/wheelmq/broker/offset"
	"github.com/wheelmq/wheelmq/broker/pop"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/store"
)

// popRun is one look at everything that a pop may take from. Runs are reused.
type popRun struct {
	p         *Pop
	t         *popTarget
	reply     *remoting.Reply
	batch     *batch
	got       pulled // msgs and bytes are those of the whole run
	popTime   int64
	reviveQid int32
	rest      int64 // messages that were seen and not taken
	failed    error // why something cannot be handed out
	hindered  bool  // somebody else was taking from a queue, or there was too much to pass over
	at        popQueue
	counts    [maxPop]int32 // of the queue's messages, in order
	name      []byte
	group     []byte // name of the target's
	start, offsets,
	times []byte // the fields of the reply
	begin func() int64
	// wait, when not nil, makes what Handed is to call when it is durable later.
	wait func() func(error)
}

// popQueue is the queue that a run looks at.
type popQueue struct {
	key   pop.Key
	name  []byte // of key.Topic
	queue *store.ConsumeQueue
	retry byte // '0' no retry topic, '1' and '2' their versions
}

var popRuns = sync.Pool{New: func() any {
	r := new(popRun)
	r.begin = r.beginning
	return r
}}

func (p *Pop) begin(t *popTarget, reply *remoting.Reply) *popRun {
	r := popRuns.Get().(*popRun)
	r.p, r.t, r.reply, r.batch, r.got, r.wait = p, t, reply, newBatch(), pulled{}, nil
	r.rest, r.hindered, r.failed = 0, false, nil
	r.popTime = p.opts.Time.NowMillis()
	r.group = append(r.group[:0], t.group.GroupName...)
	r.reviveQid = orderReviveQid
	if !t.order {
		r.reviveQid = int32(p.popped.Add(1) % reviveQueues)
	}
	r.start, r.offsets, r.times = r.start[:0], r.offsets[:0], r.times[:0]
	return r
}

// end gives a run back that has answered or found nothing.
func (r *popRun) end() {
	if r.batch != nil {
		r.batch.free()
	}
	r.p, r.t, r.reply, r.batch, r.wait, r.at = nil, nil, nil, nil, nil, popQueue{}
	popRuns.Put(r)
}

// read takes from the topic and its retry topics what fits.
func (r *popRun) read() {
	started := r.p.opts.Wire.NowMillis()
	dice := rand.IntN(100)
	byPriority := r.t.byPriority(dice)
	percent := r.p.settings.Load().RetryPercent
	if byPriority {
		percent = r.p.settings.Load().RetryPercentPriority
	}
	retryFirst := dice < percent
	if retryFirst && !r.t.order {
		r.readRetries()
	}
	if r.t.queueID >= 0 {
		r.name = append(r.name[:0], r.t.topic.TopicName...)
		r.look(r.name, r.t.topic.TopicName, r.t.queueID, '0')
	} else {
		r.readTopic(dice, byPriority)
	}
	if !retryFirst && !r.t.order {
		r.readRetries()
	}
	r.p.opts.Stats.GotTook(r.p.opts.Wire.NowMillis() - started)
}

// readTopic takes from all queues of the topic, from a random one on, or by priority.
func (r *popRun) readTopic(from int, byPriority bool) {
	n := int(r.t.topic.ReadQueueNums)
	r.name = append(r.name[:0], r.t.topic.TopicName...)
	if byPriority {
		from = 0
	}
	for i := range n {
		if !r.p.settings.Load().LowQueuesFirst {
			i = n - 1 - i
		}
		r.look(r.name, r.t.topic.TopicName, int32((from+i)%n), '0')
	}
}

// look takes from one queue what fits.
func (r *popRun) look(name []byte, topicName string, queueID int32, retry byte) {
	r.at = popQueue{
		key: pop.Key{Group: r.t.group.GroupName, Topic: topicName, QueueID: queueID}, name: name,
		queue: r.p.opts.Store.Queue(name, queueID), retry: retry,
	}
	r.got.min, r.got.max = 0, 0
	if q := r.at.queue; q != nil {
		r.got.min, r.got.max = q.Min(), q.Max()
	}
	if r.got.msgs >= r.t.maxNums && !r.t.order {
		// A new group begins in every queue at its first pop, however much that takes.
		if waiting, begun := r.waiting(); begun {
			r.rest += waiting
			return
		}
	}
	w, ok, err := r.p.opts.Windows.Acquire(r.at.key, r.begin)
	if err != nil {
		r.fail(err)
		return
	}
	if !ok {
		// Somebody else takes from it just now; in order it is his.
		if r.hindered = true; !r.t.order {
			waiting, _ := r.waiting()
			r.rest += waiting
		}
		return
	}
	defer w.Release()
	r.take(w)
}

// waiting is how much a queue has that nobody has popped, and whether the group has begun with it.
func (r *popRun) waiting() (n int64, begun bool) {
	at := r.p.opts.Offsets.Query(r.group, r.at.name, r.at.key.QueueID)
	if begun = at != offset.None; !begun {
		at = r.beginning()
	}
	return max(0, r.got.max-max(at, r.got.min)), begun
}

// beginning is where a group begins that has no offset in the queue.
func (r *popRun) beginning() int64 {
	if r.at.queue == nil {
		return 0
	}
	if !r.t.fromMax || r.at.retry != '0' || !r.p.settings.Load().NewGroupsAtEnd && r.got.min == 0 && r.got.max > 0 && !r.p.records.cold(r.at.queue, 0) {
		return r.got.min
	}
	return max(r.got.max-1, r.got.min)
}

// take takes from a window what fits.
func (r *popRun) take(w *pop.Window) {
	if _, blocked := w.Blocked(r.t.attemptID, r.popTime); blocked && (r.t.order || r.p.opts.Differences.Use(difference.PopBesideOrder)) {
		return
	}
	cursor := w.Cursor()
	if r.at.queue == nil || cursor == r.got.max {
		return
	}
	if edge := edge(r.at.queue, cursor); edge.code != 0 {
		r.p.opts.Log.WithFields(logrus.Fields{
			"group": r.at.key.Group, "topic": r.at.key.Topic, "queueId": r.at.key.QueueID, "offset": cursor, "next": edge.next,
		}).Warn("the offset of a group that pops is not in its queue and corrected")
		if err := w.Move(edge.next); err != nil {
			r.fail(err)
			return
		}
		if cursor = edge.next; cursor == r.got.max {
			return
		}
	}
	if most := r.p.settings.Load().MaxInFlight; r.got.msgs >= r.t.maxNums || most > 0 && w.InFlight() >= most {
		r.rest += r.got.max - cursor
		return
	}
	r.handOut(w, cursor)
}

// handOut reads on from the cursor and notes what it found as in flight.
func (r *popRun) handOut(w *pop.Window, cursor int64) {
	before, bytes, parts := r.got.msgs, r.got.bytes, len(r.reply.Parts)
	r.batch.offsets = r.batch.offsets[:0]
	r.p.records.collect(r.at.queue, &want{
		topic: r.at.key.Topic, queueID: r.at.key.QueueID, offset: cursor, maxNums: r.t.maxNums, filter: r.t.filter,
	}, r.batch, &r.got, r.reply)
	next := r.got.next
	if next == cursor {
		r.rest += r.got.max - cursor
		return
	}
	found := pop.Pop{
		Offsets: r.batch.offsets, Next: next, PopTime: r.popTime, InvisibleMs: r.t.invisibleMs, Order: r.t.order, AttemptID: r.t.attemptID,
	}
	if r.t.order {
		for i, offset := range found.Offsets {
			r.counts[i] = int32(w.Counts(r.t.attemptID, offset))
		}
	}
	r.p.opts.InFlight.Popped(placeOf(&r.at.key), r.t.connID, r.popTime, found.Offsets)
	if err := r.handed(w, &found); err != nil {
		r.fail(err)
		r.got.msgs, r.got.bytes, r.reply.Parts = before, bytes, r.reply.Parts[:parts]
		r.rest += r.got.max - cursor
		return
	}
	r.rest += r.got.max - next
	r.hindered = r.hindered || r.got.msgs == 0 && next < r.got.max
	if len(found.Offsets) > 0 {
		r.tell(cursor, parts)
		counters := r.p.opts.Stats.GroupCounters([]byte(r.at.key.Group), r.at.name)
		counters.Got(int64(r.got.msgs-before), r.got.bytes-bytes)
		counters.Checkpointed(1)
	}
}

func placeOf(k *pop.Key) inflight.Place {
	return inflight.Place{Group: k.Group, Topic: k.Topic, QueueID: k.QueueID}
}

func (r *popRun) handed(w *pop.Window, found *pop.Pop) error {
	if r.wait == nil {
		_, err := w.Handed(found, nil)
		return err
	}
	done := r.wait()
	pending, err := w.Handed(found, done)
	if err != nil || !pending {
		done(nil)
	}
	return err
}

// fail notes why a queue gives nothing. A message that is handed out must be known to be in flight.
func (r *popRun) fail(err error) {
	r.failed = err
	r.p.opts.Log.WithError(err).WithFields(logrus.Fields{
		"group": r.at.key.Group, "topic": r.at.key.Topic, "queueId": r.at.key.QueueID,
	}).Error("what is popped cannot be noted, it is not handed out")
}

// tell notes in the reply what a queue gave: its messages are the parts from there on.
func (r *popRun) tell(cursor int64, parts int) {
	r.start = appendStart(r.start, r.at.retry, r.at.key.QueueID, cursor)
	r.offsets = appendOffsets(r.offsets, r.at.retry, r.at.key.QueueID, r.batch.offsets)
	if r.t.order {
		r.times = appendTimes(r.times, r.at.retry, r.at.key.QueueID, r.batch.offsets, r.counts[:])
	}
	if r.at.retry != '0' && !r.p.settings.Load().ActualRetryTopic {
		r.disguise(cursor, parts)
	}
}

// answer fills the reply.
func (r *popRun) answer() {
	r.reply.Code, r.reply.Remark = remoting.PollingTimeout, "NO_MESSAGE_IN_QUEUE"
	switch {
	case r.got.msgs > 0:
		r.reply.Code, r.reply.Remark = remoting.Success, "FOUND"
		r.reply.Release, r.batch = r.batch.release, nil
	case r.failed != nil:
		r.reply.Code, r.reply.Remark = remoting.SystemError, "what is popped cannot be noted: "+r.failed.Error()
	default:
		r.p.opts.Stats.Missed()
	}
	r.fields()
	if r.got.msgs > 0 && r.rest > 0 {
		r.p.opts.Polls.Wake(r.t.topic.TopicName, r.t.group.GroupName, r.t.queueID)
	}
}

func (r *popRun) fields() {
	head := remoting.PopMessageResponse{
		PopTime: r.popTime, InvisibleTime: r.t.invisibleMs, ReviveQID: r.reviveQid, RestNum: r.rest,
		StartOffsetInfo: present(r.start), MsgOffsetInfo: present(r.offsets),
	}
	if r.t.order {
		head.OrderCountInfo = present(r.times)
	}
	head.Encode(&r.reply.Ext)
}

// present is text that is there although it may be empty.
func present(text []byte) []byte {
	if text == nil {
		return []byte{}
	}
	return text
}
