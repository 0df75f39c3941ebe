package store

import (
	"errors"
	"io/fs"

	"github.com/wheelmq/wheelmq/message"
)

// timerCheckFile is written by every real broker since 5.0, and by nobody else.
const timerCheckFile = "config/timercheck"

// foreign tells whether the real broker wrote to the directory since this server did: its
// checkpoint is not the one that the notes are about. An older one is: a crash came between
// the two.
func (s *Store) foreign() (bool, error) {
	c, err := ReadCheckpoint(s.fs)
	if err != nil {
		// Without it nobody's promises are known.
		return false, nil
	}
	_, err = s.fs.ReadFile(timerCheckFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	was := err == nil
	if s.meta.Units < 0 {
		// Before 5.0 the checkpoint named no offset.
		return was || c.LogicsPhysicalOffset == 0 && c.PhysicMsgTimestamp > 0, nil
	}
	return was && (max(c.ConfirmPhyOffset, c.LogicsPhysicalOffset) > s.meta.End || c.PhysicMsgTimestamp > s.meta.Stamp ||
		c.LogicsPhysicalOffset == s.meta.End && c.PhysicMsgTimestamp != s.meta.Stamp), nil
}

// planForeign plans as the real broker does, which leaves no note of the topics that it deleted:
// what queues hold is right, and only what is behind their ends in the log is dispatched. A
// rebuild would bring deleted topics back, in place of those that were made again. nil: there
// are no queues to go by.
func (s *Store) planForeign(clean bool) (*recovery, int64, error) {
	r := &recovery{s: s, seen: make(map[*ConsumeQueue]int64), ends: make(map[*ConsumeQueue]int64)}
	var last int64
	for _, q := range s.queues.all() {
		if err := s.trimForeign(q); err != nil {
			return nil, 0, err
		}
		end, err := r.queueEnd(q)
		if err != nil {
			return nil, 0, err
		}
		last = max(last, end)
	}
	f := s.log.file(max(last-1, 0))
	if last == 0 || f == nil {
		return nil, 0, nil
	}
	r.sound = last
	if !clean {
		var err error
		if r.sound, err = s.foreignSound(); err != nil {
			return nil, 0, err
		}
		r.sound = max(r.sound, min(s.meta.End, last))
	}
	start := s.log.fileStart(max(r.sound-1, s.log.min()))
	r.dispatch = start
	if clean {
		r.dispatch = last
	}
	return r, start, nil
}

// trimForeign drops units that lead past the last log file: after a power cut a queue may be
// ahead of the log.
func (s *Store) trimForeign(q *ConsumeQueue) error {
	n, err := q.below(q.Max(), s.log.limit())
	if err != nil || n == q.Max() {
		return err
	}
	return q.truncate(n)
}

// queueEnd is where the record of a queue's last unit ends, bytes, as it was before recovery; 0
// without units.
func (r *recovery) queueEnd(q *ConsumeQueue) (int64, error) {
	end, ok := r.ends[q]
	if ok || q.Max() == q.first() {
		return end, nil
	}
	u, err := q.unitAt(q.Max() - 1)
	if err != nil {
		return 0, err
	}
	if u.Size != fillerSize {
		end = u.CommitLogOffset + int64(u.Size)
	}
	r.ends[q] = end
	return end, nil
}

// foreignSound is the beginning of the last file whose first record is older than what the real
// broker's checkpoint names: log and queues were flushed below it.
func (s *Store) foreignSound() (sound int64, err error) {
	c, err := ReadCheckpoint(s.fs)
	if err != nil {
		return 0, err
	}
	for _, f := range *s.log.files.Load() {
		if err := f.hold(); err != nil {
			return 0, err
		}
		v, err := message.Parse(f.b)
		stamp := v.StoreTimestamp
		f.drop()
		if err != nil || stamp > min(c.PhysicMsgTimestamp, c.LogicsMsgTimestamp) {
			break
		}
		sound = f.start
	}
	return sound, nil
}

// known tells whether a queue of the real broker was past a record: it has its unit, or the
// record is of a topic's earlier life.
func (r *recovery) known(q *ConsumeQueue, v *message.View) (bool, error) {
	if r.ends == nil {
		return false, nil
	}
	end, err := r.queueEnd(q)
	return v.CommitLogOffset < end, err
}
