package store

import (
	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/message"
)

// minRecordSize is the least that a record takes of the log, bytes.
const minRecordSize = 91

// redispatch puts a record into its queue unless it is there.
func (r *recovery) redispatch(v *message.View) error {
	topic := string(v.Topic)
	if !indexed(v.SysFlag) || !validName(topic) || v.QueueID < 0 || v.CommitLogOffset < r.s.meta.Deleted[topic] {
		return nil
	}
	q := r.s.queues.findOrCreate(topic, v.QueueID)
	if known, err := r.known(q, v); known || err != nil {
		return err
	}
	if r.contradicts(q, v) {
		r.s.opts.Log.WithFields(logrus.Fields{"topic": topic, "queueId": v.QueueID, "offset": v.CommitLogOffset}).
			Error("a record's queue offset cannot be right, it is left out of its queue")
		return nil
	}
	unit := r.unitOf(v)
	if r.rebuild {
		if err := r.repair(q, v.QueueOffset, unit); err != nil {
			return err
		}
	}
	if err := q.put(v.QueueOffset, unit); err != nil {
		return err
	}
	q.next = q.Max()
	return nil
}

// compare corrects the unit of a record below the sound offset, which only damage changes.
func (r *recovery) compare(v *message.View) error {
	q := r.s.queues.find(v.Topic, v.QueueID)
	if q == nil || !indexed(v.SysFlag) || v.CommitLogOffset < r.s.meta.Deleted[string(v.Topic)] {
		return nil
	}
	u, ok := q.Unit(v.QueueOffset)
	if !ok || u.CommitLogOffset == v.CommitLogOffset && u.Size == v.Size {
		return nil
	}
	r.s.opts.Log.WithFields(logrus.Fields{"queue": q.dir, "queueOffset": v.QueueOffset}).
		Error("a damaged unit of a ConsumeQueue is made again")
	return q.overwrite(v.QueueOffset, r.unitOf(v))
}

func (r *recovery) unitOf(v *message.View) Unit {
	return Unit{CommitLogOffset: v.CommitLogOffset, Size: v.Size, TagsCode: r.s.opts.StoredTagsCode(v)}
}

// contradicts tells whether a record's queue offset is not what the records and units before
// it say: only its body has a CRC. Every unit between was a record's, which took its place in
// the log.
func (r *recovery) contradicts(q *ConsumeQueue, v *message.View) bool {
	if v.QueueOffset < 0 || v.QueueOffset > v.CommitLogOffset/minRecordSize {
		return true
	}
	if gap := v.QueueOffset - q.Max(); gap > 0 && q.Max() > q.Min() {
		last, _ := q.Unit(q.Max() - 1)
		return last.CommitLogOffset < v.CommitLogOffset && gap > (v.CommitLogOffset-last.CommitLogOffset)/minRecordSize
	}
	if r.rebuild {
		return v.QueueOffset < r.seen[q]
	}
	return v.QueueOffset < q.Max()
}

// repair makes an existing queue fit a record that it may have, have wrong, or lack.
func (r *recovery) repair(q *ConsumeQueue, offset int64, want Unit) error {
	_, met := r.seen[q]
	r.seen[q] = offset + 1
	if !met && offset < q.Min() {
		// The queue lost its beginning: all of it is made again.
		return q.reset()
	}
	if offset >= q.Max() {
		return nil
	}
	if u, ok := q.Unit(offset); ok && u.CommitLogOffset == want.CommitLogOffset && u.Size == want.Size {
		return nil
	}
	return q.overwrite(offset, want)
}

// cutQueues fits the queues to the log's two ends.
func (r *recovery) cutQueues(end int64) error {
	all := r.s.queues.all()
	r.s.progress.begin(stepCut, int64(len(all)))
	for i, q := range all {
		r.s.progress.at(int64(i))
		n, err := r.lastKnown(q, end)
		if err != nil {
			return err
		}
		if r.rebuild || n < q.Max() {
			if err := q.truncate(n); err != nil {
				return err
			}
		}
		q.raiseMin(r.s.log.min())
	}
	return nil
}

// lastKnown is where a queue ends: behind its last record in the log, and when it was rebuilt
// behind units whose records are damaged, or no longer in the log.
func (r *recovery) lastKnown(q *ConsumeQueue, end int64) (int64, error) {
	if !r.rebuild {
		return q.below(q.Max(), end)
	}
	n := q.Max()
	for ; n > max(r.seen[q], q.first()); n-- {
		u, err := q.unitAt(n - 1)
		if err != nil {
			return 0, err
		}
		if u.Size == fillerSize || u.CommitLogOffset+int64(u.Size) > end {
			continue
		}
		if u.CommitLogOffset < r.s.log.min() && u.CommitLogOffset >= r.s.meta.Deleted[q.topic] || r.isDamaged(u.CommitLogOffset) {
			break
		}
	}
	return n, nil
}

func (r *recovery) isDamaged(offset int64) bool {
	for _, d := range r.damaged {
		if offset >= d.from && offset < d.to {
			return true
		}
	}
	return false
}
