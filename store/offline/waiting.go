package offline

import (
	"errors"
	"io/fs"
	"math"
	"strconv"
	"strings"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
	"github.com/wheelmq/wheelmq/store/timer/rocketmq"
)

// Names of the real broker's services that this server does not have.
const (
	transGroup   = "CID_RMQ_SYS_TRANS"
	reviveGroup  = "CID_RMQ_SYS_REVIVE_GROUP"
	revivePrefix = message.PrefixSystem + "REVIVE_LOG_"
)

// Waiting is what waits in a directory for a service of the real broker that this server does
// not have: nobody would deliver it.
type Waiting struct {
	// Timers are any-time delayed messages of the real broker that are not delivered,
	// FirstTimer the instant of the earliest, ms. A start takes them over, with timerWheelEnable. Those
	// of this server's own files are not among them.
	Timers     int64 `json:"timers"`
	FirstTimer int64 `json:"firstTimer,omitempty"`
	// Halves are transactional messages that were neither committed nor rolled back.
	Halves int64 `json:"halfTransactions"`
	// Pops are records about messages that pop consumers may not have acknowledged.
	Pops int64 `json:"popRecords"`
}

// Waiting counts it.
func (d *Dir) Waiting() (w Waiting, err error) {
	if err := d.openQueues(waits); err != nil {
		return w, err
	}
	var offsets consumerTable
	// An unreadable table, of which the report and a start tell by themselves, makes more records count
	// as waiting, which is the safe side.
	_ = d.read("consumerOffset.json", &offsets)
	if err := d.countTimers(&w); err != nil {
		return w, err
	}
	if err := d.countHalves(&w, &offsets); err != nil {
		return w, err
	}
	for _, q := range d.queues {
		if strings.HasPrefix(q.topic, revivePrefix) {
			w.Pops += max(0, q.max-max(q.min, offsets.committed(q.topic, reviveGroup, q.id)))
		}
	}
	return w, nil
}

// waits tells whether a topic holds what may wait.
func waits(topic string) bool {
	switch topic {
	case message.TopicTimer, message.TopicTransHalf, message.TopicTransOpHalf:
		return true
	}
	return strings.HasPrefix(topic, revivePrefix)
}

// countTimers counts the real broker's records of the timer topic whose slot the wheel has not read
// yet. A timer that was rolled lies there several times and counts once; one that cancels another
// is delivered to nobody.
func (d *Dir) countTimers(w *Waiting) error {
	q := d.queue(message.TopicTimer, 0)
	if q == nil {
		return nil
	}
	from, read, theirs, err := d.timersFrom(q)
	if err != nil || !theirs {
		return err
	}
	rolled := make(map[string]bool)
	return d.eachRecord(q, from, func(v *message.View) {
		_, own := message.DueOf(v.Properties)
		_, cancel := message.PropertyGet(v.Properties, message.PropertyTimerDelUniqKey)
		at, ok := message.TimerOutOf(v.Properties)
		if own || cancel || !ok || at < read {
			return
		}
		if key, ok := message.PropertyGet(v.Properties, message.PropertyUniqKey); ok {
			if rolled[string(key)] {
				return
			}
			rolled[string(key)] = true
		}
		w.Timers++
		if w.FirstTimer == 0 || at < w.FirstTimer {
			w.FirstTimer = at
		}
	})
}

// timersFrom is the unit of the timer queue, and the slot, ms, from which on records wait for the real
// broker's wheel. theirs is false when it was never here, or delivers none any more.
func (d *Dir) timersFrom(q *queue) (from, read int64, theirs bool, err error) {
	from, read = q.min, math.MinInt64
	c, ok, err := rocketmq.ReadCheckpoint(d.fs)
	if err != nil {
		return 0, 0, false, err
	}
	if ok {
		read = c.ReadMs
	} else if _, err := d.fs.ReadFile(rocketmq.CheckpointFile); errors.Is(err, fs.ErrNotExist) {
		if _, err := store.ReadNotes(d.fs); err == nil {
			return 0, 0, false, nil
		}
	}
	if ok && c.LogPos == 0 {
		// Nothing was taken out of the queue and waits.
		from = min(max(from, c.QueueOffset), q.max)
	}
	own, err := rocketmq.Blocked(d.fs)
	return from, read, !own, err
}

// countHalves counts the half messages from the committed offset on that no op message names.
// An op message's body lists queue offsets of the half topic.
func (d *Dir) countHalves(w *Waiting, offsets *consumerTable) error {
	halves, ops := d.queue(message.TopicTransHalf, 0), d.queue(message.TopicTransOpHalf, 0)
	if halves == nil {
		return nil
	}
	from := max(halves.min, offsets.committed(halves.topic, transGroup, 0))
	done := make(map[int64]bool)
	if ops != nil {
		err := d.eachRecord(ops, max(ops.min, offsets.committed(ops.topic, transGroup, 0)), func(v *message.View) {
			for item := range strings.SplitSeq(string(v.Body), ",") {
				if n, err := strconv.ParseInt(item, 10, 64); err == nil && n >= from && n < halves.max {
					done[n] = true
				}
			}
		})
		if err != nil {
			return err
		}
	}
	w.Halves = max(0, halves.max-from-int64(len(done)))
	return nil
}

// eachRecord visits the records of a queue from a unit on. Those that cannot be read are left
// out.
func (d *Dir) eachRecord(q *queue, from int64, visit func(*message.View)) error {
	var failed error
	err := q.each(from, func(_ int64, u store.Unit) bool {
		b, err := d.bytesAt(u.CommitLogOffset)
		if err != nil {
			failed = err
			return false
		}
		if v, err := message.Parse(b); err == nil && v.CommitLogOffset == u.CommitLogOffset {
			visit(&v)
		}
		return true
	})
	return errors.Join(err, failed)
}
