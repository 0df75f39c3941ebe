package store

import (
	"bytes"
	"encoding/binary"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/message"
)

// recovery is one pass over the log's tail.
type recovery struct {
	s *Store
	// sound is the offset below which log and queues were durable once: what is unreadable
	// there is damage, not the end.
	sound int64
	// dispatch is the offset from which records lack in their queues.
	dispatch int64
	// rebuild: units may lack or be wrong anywhere, dispatch is the log's beginning.
	rebuild bool
	// seen is, when rebuilding, the end of what each queue's records account for, units.
	seen    map[*ConsumeQueue]int64
	damaged []span
	records int
	// ends is, in a directory of the real broker, where each queue's last record ended before
	// recovery, bytes; nil in one of this server's.
	ends map[*ConsumeQueue]int64
}

// span is a part of the log, from its first byte to behind its last.
type span struct{ from, to int64 }

// recover finds the end of the log, dispatches again what queues may lack, and cuts
// everything that goes past the end. Doing it twice changes nothing.
func (s *Store) recover() error {
	clean := s.wasClosed()
	if err := s.dropDeleted(); err != nil {
		return err
	}
	r, start, err := s.planRecovery(clean)
	if err != nil {
		return err
	}
	if err := r.trimQueues(clean); err != nil {
		return err
	}
	end, err := r.scan(start, s.progress.scan(start, s.log.limit()))
	if err != nil {
		return err
	}
	if end < r.sound {
		s.opts.Log.WithFields(logrus.Fields{"end": end, "durable": r.sound}).
			Error("the end of the CommitLog is missing, the records there are lost")
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
	for topic, at := range s.meta.Deleted {
		// Records that are put from here on are not those that were deleted.
		s.meta.Deleted[topic] = min(at, end)
	}
	if err := r.cutQueues(end); err != nil {
		return err
	}
	// What is below the sound offset's file was durable when the checkpoint was written.
	s.log.flushed.Store(min(end, max(start, s.log.fileStart(r.sound))))
	return s.log.sync(end)
}

// dropDeleted removes the queues of deleted topics that a power cut left or brought back.
func (s *Store) dropDeleted() error {
	for topic, at := range s.meta.Deleted {
		for _, q := range s.queues.of(topic) {
			if u, ok := q.Unit(q.Min()); !ok || u.CommitLogOffset < at {
				if err := q.reset(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// planRecovery decides where scanning begins: at the start of the checkpoint's file, or of
// the log when there is no checkpoint or queues are not what they were.
func (s *Store) planRecovery(clean bool) (*recovery, int64, error) {
	foreign, err := s.foreign()
	if err != nil {
		return nil, 0, err
	}
	if foreign {
		if r, start, err := s.planForeign(clean); r != nil || err != nil {
			return r, start, err
		}
	}
	r := &recovery{s: s, sound: s.meta.End, seen: make(map[*ConsumeQueue]int64)}
	if limit := s.log.limit(); s.meta.End == 0 {
		if r.sound = s.checkpointOffset(); r.sound < 0 || r.sound > limit {
			r.sound = 0
		}
	} else if s.meta.End > limit {
		s.opts.Log.WithFields(logrus.Fields{"end": limit, "durable": s.meta.End}).
			Error("the last files of the CommitLog are missing, the records there are lost")
		r.sound = limit
	}
	if foreign && r.sound == 0 {
		if r.sound, err = s.foreignSound(); err != nil {
			return nil, 0, err
		}
	}
	f := s.log.file(max(r.sound-1, 0))
	if f != nil && r.sound == s.meta.End && s.meta.Units >= 0 {
		found, err := s.countBelow(r.sound)
		if err != nil {
			return nil, 0, err
		}
		if s.meta.complete(found) {
			r.dispatch = r.sound
			return r, f.start, nil
		}
		s.opts.Log.WithFields(logrus.Fields{"found": found, "want": s.meta.census}).
			Warn("the ConsumeQueues are not complete, they are rebuilt from the CommitLog")
	}
	r.rebuild = true
	return r, s.log.min(), nil
}

// countBelow is count for queues that were just loaded.
func (s *Store) countBelow(end int64) (c census, err error) {
	all := s.queues.all()
	s.progress.begin(stepCount, int64(len(all)))
	for i, q := range all {
		s.progress.at(int64(i))
		n, err := q.below(q.Max(), end)
		if err != nil {
			return c, err
		}
		c.add(q, n)
	}
	return c, nil
}

// trimQueues drops what cannot be trusted and is dispatched again: after a power cut, units
// of records past the checkpoint may be those of records that were lost.
func (r *recovery) trimQueues(clean bool) error {
	if r.rebuild || r.ends != nil {
		return nil
	}
	all := r.s.queues.all()
	r.s.progress.begin(stepTrim, int64(len(all)))
	for i, q := range all {
		r.s.progress.at(int64(i))
		n, err := q.below(q.Max(), r.sound)
		if err != nil {
			return err
		}
		if clean && n == q.Max() {
			continue
		}
		if err := q.truncate(n); err != nil {
			return err
		}
	}
	return nil
}

// scan reads records from start on, dispatches them and returns where they end.
func (r *recovery) scan(start int64, progress *scanned) (end int64, err error) {
	for at := start; ; {
		f := r.s.log.file(at)
		if f == nil {
			return at, nil
		}
		if err := f.hold(); err != nil {
			return at, err
		}
		next, more, err := r.scanFile(f, at, progress)
		f.drop()
		if err != nil || !more {
			return next, err
		}
		at = next
	}
}

// scanFile reads the records of one file from at on. It returns where to go on, or where the
// log ends.
func (r *recovery) scanFile(f *file, at int64, progress *scanned) (next int64, more bool, err error) {
	for at < f.start+f.size {
		progress.reached(at)
		b := f.b[at-f.start:]
		if isBlank(b) {
			break
		}
		v, bad := recordAt(b, at)
		if bad || at >= r.sound && r.ends == nil && torn(&v, at-f.start) {
			next, found, err := r.resume(at)
			if err != nil || !found {
				return at, false, err
			}
			r.s.opts.Log.WithFields(logrus.Fields{"from": at, "to": next}).
				Error("the CommitLog is damaged, the records there are lost")
			r.damaged = append(r.damaged, span{at, next})
			return next, true, nil
		}
		if at >= r.dispatch {
			r.records++
			err = r.redispatch(&v)
		} else {
			err = r.compare(&v)
		}
		if err != nil {
			return at, false, err
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

// sector is what a disk writes whole, bytes.
const sector = 512

// torn tells whether a record that begins at an offset of its file lacks a sector behind its
// body, where no CRC looks: a sector that was not written is zero, properties are not, since Put
// refuses them (the real broker does not: its directories are not judged by this).
func torn(v *message.View, at int64) bool {
	end := at + int64(v.Size)
	from := end - int64(len(v.Properties))
	for s := (from + sector - 1) / sector * sector; s < end; s += sector {
		lost := v.Properties[s-from : min(s+sector, end)-from]
		if bytes.Equal(lost, zeros[:len(lost)]) {
			return true
		}
	}
	return false
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
