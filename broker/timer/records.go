package timer

import (
	"fmt"
	"sync/atomic"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
	wheel "github.com/wheelmq/wheelmq/store/timer"
)

// records are those of the timer queue, as they lie in the log or in the Timelines' files. They need
// no lock.
type records struct {
	log         Log
	precisionMs int64 // timerPrecisionMs
	logger      logrus.FieldLogger

	unreadable atomic.Int64 // messages that are lost
	// unreadByLooks are records that nobody could read who looked at what pends.
	unreadByLooks atomic.Int64
}

// queue is the timer queue, nil while there is none.
func (r *records) queue() *store.ConsumeQueue { return r.log.Queue(topicTimer, 0) }

// queueEnd is the end of the timer queue.
func (r *records) queueEnd() int64 {
	if q := r.queue(); q != nil {
		return q.Max()
	}
	return 0
}

// withRecord shows fn a record, from the log where the Timeline does not have it.
func (r *records) withRecord(commitLogOffset int64, size int32, kept []byte, fn func(v *message.View) error) (err error) {
	defer store.CatchFault(&err)
	if kept == nil {
		slice, err := r.log.Record(commitLogOffset, size)
		if err != nil {
			return err
		}
		defer slice.Release()
		kept = slice.Bytes
	}
	v, err := message.Parse(kept)
	if err != nil {
		return err
	}
	return fn(&v)
}

// lost notes a pending record that cannot be read. It cannot be parked, having no content; it is
// counted and stops nobody. Of many, fewer and fewer are named.
func (r *records) lost(commitLogOffset int64, err error) {
	if n := r.unreadable.Add(1); n&(n-1) == 0 {
		r.logger.WithError(err).WithFields(logrus.Fields{"commitLogOffset": commitLogOffset, "messages": n}).
			Error("a pending timer message cannot be read and is lost")
	}
}

// unread counts a record that somebody who looks at what pends cannot read. Of many, fewer and fewer
// are named.
func (r *records) unread(commitLogOffset int64, err error) {
	if n := r.unreadByLooks.Add(1); n&(n-1) == 0 {
		r.logger.WithError(err).WithFields(logrus.Fields{"commitLogOffset": commitLogOffset, "records": n}).
			Error("a record of the timers cannot be read by who looks at what pends")
	}
}

// take puts an entry that was read into its second. What cannot be read is lost.
func (r *records) take(sec *second, item *wheel.Item) {
	if err := r.place(sec, item); err != nil {
		r.lost(item.LogOffset, err)
	}
}

// place puts an entry that was read where it belongs in its second.
func (r *records) place(sec *second, item *wheel.Item) error {
	switch {
	case item.Flags&wheel.CancelRef != 0:
		removes, err := r.refOf(item)
		if err != nil {
			return err
		}
		sec.addRef(removes)
	case item.Flags&wheel.Cancel != 0:
		hash, err := r.hashOf(item)
		if err != nil {
			return err
		}
		sec.addCancel(item, hash)
	default:
		item.Entry = late(item.Entry, sec)
		sec.add(item)
	}
	return nil
}

// hashOf is the hash of the key that a cancel removes.
func (r *records) hashOf(item *wheel.Item) (hash uint64, err error) {
	err = r.withRecord(item.LogOffset, item.Size, item.Record, func(v *message.View) error {
		p, reason := readPending(v, r.precisionMs)
		if reason != "" || p.cancels == nil {
			return fmt.Errorf("timer: the record at %d is no cancel: %s", item.LogOffset, reason)
		}
		hash = keyHash(p.realTopic, p.cancels)
		return nil
	})
	return hash, err
}

// refOf is the log offset of the message that an entry removes.
func (r *records) refOf(item *wheel.Item) (removes int64, err error) {
	err = r.withRecord(item.LogOffset-refOffset, item.Size, item.Record, func(v *message.View) error {
		sup, ok := message.SupersedesOf(v.Properties)
		if !ok {
			return fmt.Errorf("timer: the record at %d removes nothing", item.LogOffset-refOffset)
		}
		removes = sup.LogOffset
		return nil
	})
	return removes, err
}

// isCancelled tells whether a message of a second with cancels is removed by one of them.
func (r *records) isCancelled(sec *second, e *entry, v *message.View) bool {
	if sec.removedByRef(e) {
		return true
	}
	key, ok := message.PropertyGet(v.Properties, message.PropertyUniqKey)
	if !ok {
		return false
	}
	realTopic, _ := message.PropertyGet(v.Properties, message.PropertyRealTopic)
	i, ok := sec.cancels[keyHash(realTopic, key)]
	for ; ok && i != noEntry; i = sec.entries[i].next {
		c := &sec.entries[i]
		same := false
		err := r.withRecord(c.logOffset, c.size, c.bytes(), func(v *message.View) error {
			p, _ := readPending(v, r.precisionMs)
			same = string(p.realTopic) == string(realTopic) && string(p.cancels) == string(key)
			return nil
		})
		if err != nil {
			r.unread(c.logOffset, err)
		} else if same {
			return true
		}
	}
	return false
}
