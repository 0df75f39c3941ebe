package store

import (
	"encoding/binary"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/message"
)

// maxGap is the longest run of missing units that recovery fills, units. A record that
// claims to be farther ahead in its queue is damaged: only its body has a CRC.
const maxGap = 10_000_000

// recovery is one pass over the log's tail.
type recovery struct {
	s *Store
	// sound is the offset below which log and queues were durable once: what is unreadable
	// there is damage, not the end.
	sound int64
	// dispatch is the offset from which records may lack in their queues.
	dispatch int64
	records  int
}

// recover finds the end of the log, dispatches again what queues may lack, and cuts
// everything that goes past the end. Doing it twice changes nothing.
func (s *Store) recover() error {
	if len(*s.log.files.Load()) == 0 {
		return s.cutQueues(0)
	}
	clean := s.wasClosed()
	r, start := s.planRecovery()
	end, err := r.scan(start)
	if err != nil {
		return err
	}
	if !clean || r.records > 0 {
		s.opts.Log.WithFields(logrus.Fields{"from": start, "end": end, "records": r.records, "clean": clean}).
			Info("recovered the CommitLog")
	}
	if !clean || end != r.sound {
		if err := s.log.cut(end); err != nil {
			return err
		}
	}
	s.log.end.Store(end)
	if err := s.cutQueues(end); err != nil {
		return err
	}
	// What is below the scanned files was durable when the checkpoint was written.
	s.log.flushed.Store(start)
	return s.log.sync(end)
}

// planRecovery decides where scanning begins: at the start of the checkpoint's file, or of
// the log when there is no checkpoint or queues are missing.
func (s *Store) planRecovery() (*recovery, int64) {
	var queues int
	var units int64
	for _, q := range s.queues.all() {
		if n := q.Max(); n > 0 {
			queues++
			units += n
		}
	}
	offset := s.checkpointOffset()
	f := s.log.file(max(offset-1, 0))
	if offset <= 0 || f == nil {
		return &recovery{s: s}, s.log.min()
	}
	if s.meta.Units < 0 || queues < s.meta.Queues || units < s.meta.Units {
		return &recovery{s: s, sound: offset}, s.log.min()
	}
	return &recovery{s: s, sound: offset, dispatch: offset}, f.start
}

// scan reads records from start on, dispatches them and returns where they end.
func (r *recovery) scan(start int64) (end int64, err error) {
	for at := start; ; {
		f := r.s.log.file(at)
		if f == nil {
			return at, nil
		}
		if err := f.hold(); err != nil {
			return at, err
		}
		next, more, err := r.scanFile(f, at)
		f.drop()
		if err != nil || !more {
			return next, err
		}
		at = next
	}
}

// scanFile reads the records of one file from at on. It returns where to go on, or where the
// log ends.
func (r *recovery) scanFile(f *file, at int64) (next int64, more bool, err error) {
	for at < f.start+f.size {
		b := f.b[at-f.start:]
		if isBlank(b) {
			break
		}
		v, bad := recordAt(b, at)
		if bad {
			next, found, err := r.resume(at)
			if err != nil || !found {
				return at, false, err
			}
			r.s.opts.Log.WithFields(logrus.Fields{"from": at, "to": next}).
				Error("the CommitLog is damaged, the records there are lost")
			return next, true, nil
		}
		if at >= r.dispatch {
			if err := r.redispatch(&v); err != nil {
				return at, false, err
			}
			r.records++
		}
		r.s.lastStamp = max(r.s.lastStamp, v.StoreTimestamp)
		at += int64(v.Size)
	}
	return f.start + f.size, true, nil
}

func recordAt(b []byte, at int64) (v message.View, bad bool) {
	v, err := message.ParseVerify(b)
	return v, err != nil || v.CommitLogOffset != at
}

// resume looks for the next sound record behind damage. Past the checkpoint there is no
// damage, only the torn end; the same when nothing sound follows.
func (r *recovery) resume(at int64) (next int64, found bool, err error) {
	for at++; at < r.sound; {
		f := r.s.log.file(at)
		if f == nil {
			return 0, false, nil
		}
		if err := f.hold(); err != nil {
			return 0, false, err
		}
		next, found := resumeIn(f, at, r.sound)
		f.drop()
		if found {
			return next, true, nil
		}
		at = f.start + f.size
	}
	return 0, false, nil
}

// resumeIn looks for a record, or the blank end, of one file.
func resumeIn(f *file, at, sound int64) (next int64, found bool) {
	for ; at < min(sound, f.start+f.size-message.BlankLength); at++ {
		b := f.b[at-f.start:]
		if isBlank(b) {
			return at, true
		}
		if m := binary.BigEndian.Uint32(b[4:]); m != message.MagicV1 && m != message.MagicV2 {
			continue
		}
		if _, bad := recordAt(b, at); !bad {
			return at, true
		}
	}
	return 0, false
}

// redispatch puts a record into its queue unless it is there.
func (r *recovery) redispatch(v *message.View) error {
	topic := string(v.Topic)
	if !indexed(v.SysFlag) || !validName(topic) || v.QueueID < 0 || v.CommitLogOffset < r.s.meta.Deleted[topic] {
		return nil
	}
	q := r.s.queues.findOrCreate(topic, v.QueueID)
	if v.QueueOffset < q.Max() {
		return nil
	}
	if q.Max() > 0 && v.QueueOffset-q.Max() > maxGap {
		r.s.opts.Log.WithFields(logrus.Fields{"topic": topic, "queueId": v.QueueID, "offset": v.CommitLogOffset}).
			Error("a record's queue offset cannot be right, it is left out of its queue")
		return nil
	}
	unit := Unit{CommitLogOffset: v.CommitLogOffset, Size: v.Size, TagsCode: r.s.opts.TagsCode(topic, v.Properties)}
	if err := q.put(v.QueueOffset, unit); err != nil {
		return err
	}
	q.next = q.Max()
	return nil
}

// cutQueues fits the queues to the log's two ends.
func (s *Store) cutQueues(end int64) error {
	for _, q := range s.queues.all() {
		if err := q.cut(end); err != nil {
			return err
		}
		q.raiseMin(s.log.min())
	}
	return nil
}
