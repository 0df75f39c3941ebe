package schedule

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"

	"github.com/sirupsen/logrus"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/store"
)

const (
	// batch is how many messages one level delivers before the others get their turn.
	batch        = 256
	firstBackoff = 100    // ms
	maxBackoff   = 10_000 // ms
	never        = int64(math.MaxInt64)
)

// level is the state of one delay level. It belongs to the driver's goroutine but for what is
// read through Service.Offsets.
type level struct {
	number  int64
	queueID int32
	backoff int64 // ms, 0 when the last delivery worked
	retryAt int64 // ms, no delivery before
}

// worker delivers: the scratch of the driver's goroutine.
type worker struct {
	s     *Service
	units [batch]store.Unit
	rec   message.Record
	props []byte
	group group
}

// group waits until the copies of one batch are stored for good.
type group struct {
	wg     sync.WaitGroup
	mu     sync.Mutex // guards failed
	failed bool
}

// PutDone implements store.Completion.
func (g *group) PutDone(res store.PutResult) {
	if !res.OK() {
		g.mu.Lock()
		g.failed = true
		g.mu.Unlock()
	}
	g.wg.Done()
}

// wait returns whether every copy of the batch is stored, and forgets the batch.
func (g *group) wait() bool {
	g.wg.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	ok := !g.failed
	g.failed = false
	return ok
}

// run delivers what is due on a level, at most one batch, and returns when to look again.
func (w *worker) run(l *level, now int64) (next int64) {
	if now < l.retryAt {
		return l.retryAt
	}
	q := w.s.opts.Log.Queue(topicSchedule, l.queueID)
	if q == nil {
		return never
	}
	offset := w.s.clampOffset(l.number, q)
	n, err := q.Units(offset, w.units[:])
	if err != nil {
		return w.failed(l, now, err)
	}
	done := offset
	next = never
	for i := range w.units[:n] {
		due := w.due(l, &w.units[i])
		if due > now {
			next = due
			break
		}
		if err := w.deliver(l, &w.units[i]); err != nil {
			next = w.failed(l, now, err)
			break
		}
		w.s.lateness[l.number-1].Observe(float64(now-due) / 1000)
		done++
	}
	if !w.group.wait() {
		return w.failed(l, now, errors.New("the copies of a batch are not durable"))
	}
	if done > offset {
		w.s.delivered.Add(done - offset)
		if w.s.opts.Differences != nil {
			w.s.opts.Differences.Use(difference.DelayToTheMillisecond)
		}
		w.s.offsets[l.number-1].Store(done)
	}
	if next == never && done < q.Max() {
		return now
	}
	if next != l.retryAt && l.backoff > 0 {
		l.backoff = 0
		w.s.unblock(l)
	}
	return next
}

// failed makes the level wait, longer each time, and tells why. Other levels go on.
func (w *worker) failed(l *level, now int64, err error) int64 {
	l.backoff = min(max(2*l.backoff, firstBackoff), maxBackoff)
	l.retryAt = now + l.backoff
	w.s.note(l, err)
	return l.retryAt
}

// due is the instant of a unit, ms. A tagsCode that fits 32 bits is a tag's hash, as a queue
// has that was rebuilt without the level table; the record then knows better.
func (w *worker) due(l *level, u *store.Unit) int64 {
	if u.TagsCode > math.MaxInt32 {
		return u.TagsCode
	}
	slice, err := w.s.opts.Log.Record(u.CommitLogOffset, u.Size)
	if err != nil {
		return 0
	}
	defer slice.Release()
	v, err := message.Parse(slice.Bytes)
	if err != nil {
		return 0
	}
	if due, ok := dueOf(v.Properties); ok {
		return due
	}
	return v.StoreTimestamp + w.s.opts.Levels.DelayMs(l.number)
}

// deliver stores the copy of one pending record in its real topic. A nil error means that the
// record is done with: delivered, or parked.
func (w *worker) deliver(l *level, u *store.Unit) error {
	slice, err := w.s.opts.Log.Record(u.CommitLogOffset, u.Size)
	if err != nil {
		return w.lost(l, u, err)
	}
	defer slice.Release()
	v, err := message.Parse(slice.Bytes)
	if err != nil {
		return w.lost(l, u, err)
	}
	reason := w.rebuild(&v, u)
	if reason == "" {
		var pending bool
		w.group.wg.Add(1)
		_, pending, err = w.s.opts.Appender.Put(&w.rec, appender.FromScheduler, &w.group)
		if !pending {
			w.group.wg.Done()
		}
		if err == nil {
			return nil
		}
		if !permanent(err) {
			return fmt.Errorf("schedule: deliver to %s: %w", w.rec.Topic, err)
		}
		reason = err.Error()
	}
	return w.s.opts.Park.Park(&w.rec, "schedule", reason)
}

// permanent tells whether trying again is of no use.
func permanent(err error) bool {
	var refusal *remoting.Error
	return errors.As(err, &refusal) && refusal.Code == remoting.MessageIllegal
}

// lost notes a pending record that cannot be read. It cannot be parked, having no content;
// it is counted and named, and does not stop the level.
func (w *worker) lost(l *level, u *store.Unit, err error) error {
	w.s.unreadable.Add(1)
	w.s.opts.Wheel.WithError(err).WithFields(logrus.Fields{"level": l.number, "commitLogOffset": u.CommitLogOffset}).
		Error("a pending delayed message cannot be read and is lost")
	return nil
}

// rebuild makes the copy of a pending record in w.rec and returns why it cannot be delivered,
// if so. DELAY, REAL_TOPIC and REAL_QID stay on the copy, as on the real broker: consumers
// read them.
func (w *worker) rebuild(v *message.View, u *store.Unit) (reason string) {
	w.props = message.PropertyCopyWithout(w.props[:0], v.Properties, isOwn)
	w.props = appendSource(w.props, w.s.opts.Log.Epoch(), u.CommitLogOffset)
	w.rec = message.Record{
		Topic: message.TopicSchedule, Flag: v.Flag, SysFlag: v.SysFlag, BornTimestamp: v.BornTimestamp, BornHost: v.BornHost,
		StoreHost: v.StoreHost, ReconsumeTimes: v.ReconsumeTimes, Body: v.Body, Properties: w.props,
	}
	realTopic, _ := message.PropertyGet(v.Properties, message.PropertyRealTopic)
	queueID, _ := message.PropertyGet(v.Properties, message.PropertyRealQueueID)
	n, err := strconv.ParseInt(string(queueID), 10, 32)
	if err != nil || n < 0 {
		return fmt.Sprintf("REAL_QID is %q", queueID)
	}
	w.rec.QueueID = int32(n)
	target := w.s.opts.Topics.Get(realTopic)
	if target == nil {
		w.rec.Topic = string(realTopic)
		// Deleting a topic deletes its queues: one that has them is only missing from the
		// table, as after the loss of topics.json, and gets its messages.
		if w.s.opts.Log.Queue(realTopic, w.rec.QueueID) != nil {
			return ""
		}
		return fmt.Sprintf("topic %q does not exist", realTopic)
	}
	w.rec.Topic = target.TopicName
	if target.TopicName == message.TopicTransHalf {
		return "a half message was delayed"
	}
	return ""
}

func isOwn(name []byte) bool {
	return string(name) == message.PropertyDueMs || string(name) == message.PropertySource
}

// appendSource adds the identity of the record that a copy was made from.
func appendSource(props []byte, epoch uint64, commitLogOffset int64) []byte {
	var b [48]byte
	id := strconv.AppendUint(b[:0], epoch, 16)
	id = append(id, ':')
	id = strconv.AppendInt(id, commitLogOffset, 10)
	id = append(id, ":0"...)
	return message.PropertyAppend(props, message.PropertySource, id)
}
