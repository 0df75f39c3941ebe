package timer

import (
	"errors"
	"fmt"
	"io/fs"
	"math"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/message"
	wheel "github.com/wheelmq/wheelmq/store/timer"
)

// open goes on from the checkpoint. Without one that can be used, what is near is taken out of the
// timer queue again, and what is far is found in its files.
func (s *Service) open() error {
	s.savedOldest, s.oldestNow, s.notedAt = never, never, -1
	s.rates.at = s.opts.Wire.NowMillis()
	c, err := s.takeOver(s.loadCheckpoint())
	if err != nil {
		return err
	}
	if c == nil {
		if err := s.forgetCheckpoint(); err != nil {
			return err
		}
	}
	err = s.openLines(c)
	if errors.Is(err, wheel.ErrDamaged) && c != nil {
		s.opts.Logger.WithError(err).Error("the timers' files are not those of their checkpoint: they are made again from the log")
		s.damagedThen = c.damaged
		if err = s.forgetCheckpoint(); err == nil {
			c, err = nil, s.openLines(nil)
		}
	}
	if err != nil {
		return err
	}
	s.resume(c)
	return nil
}

// resume goes on from where a checkpoint says, nil: there is none.
func (s *Service) resume(c *checkpoint) {
	var copiesFrom, reached int64
	if c != nil {
		copiesFrom, reached = c.copiesFrom, c.reached
		s.restore(c)
	}
	now := s.opts.Store.NowMillis()
	for _, l := range s.lines {
		lineNow := s.nowOf(l, now)
		reached = max(reached, lineNow/1000)
		s.prepare(l, lineNow)
	}
	s.reached = reached
	if s.handover.pending != nil {
		copiesFrom = s.inherit()
	} else if c == nil {
		copiesFrom = s.rebuild()
	}
	s.recognise(copiesFrom, reached)
	s.savedOldest = s.needed() // by the checkpoint that there is, until there is another
	s.noteOldest()
}

// restore takes over what a checkpoint says beside the lines.
func (s *Service) restore(c *checkpoint) {
	s.queueOffset, s.savedOffset, s.rates.offset = c.queueOffset, c.queueOffset, c.queueOffset
	s.damagedThen = c.damaged
	if c.moved != nil {
		s.moved = c.moved
	}
	s.rebuildTo = s.timersEnd() // what came since may say what is not delivered
	for name, n := range c.topics {
		s.topics.of(name).n = n
	}
}

// forgetCheckpoint removes a checkpoint that is not gone on from, durably: the files that it names
// change from here on.
func (s *Service) forgetCheckpoint() error {
	if _, err := s.opts.FS.ReadFile(checkpointFile); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := s.opts.FS.Remove(checkpointFile); err != nil {
		return fmt.Errorf("timer: %w", err)
	}
	if err := s.opts.FS.SyncDir(dir); err != nil {
		return fmt.Errorf("timer: %w", err)
	}
	return nil
}

// rebuild prepares for taking in the timer queue from its beginning, and returns from where in the
// log copies may lie.
func (s *Service) rebuild() (copiesFrom int64) {
	s.countFar()
	if s.nothingEver() {
		return s.opts.Log.MaxCommitLogOffset()
	}
	if q := s.opts.Log.Queue(topicTimer, 0); q != nil {
		s.queueOffset, s.rebuildTo = q.Min(), q.Max()
		if s.opts.Enabled {
			s.opts.Logger.WithField("records", q.Max()-q.Min()).Warn("there is no checkpoint of the timers: the timer queue is read from its beginning")
		}
	}
	return 0
}

// timersEnd is the end of the timer queue.
func (s *Service) timersEnd() int64 {
	if q := s.opts.Log.Queue(topicTimer, 0); q != nil {
		return q.Max()
	}
	return 0
}

// nothingEver tells that no message waited for an instant in this store.
func (s *Service) nothingEver() bool {
	q := s.opts.Log.Queue(topicTimer, 0)
	return (q == nil || q.Max() == 0) && s.topics.total() == 0
}

// loadCheckpoint reads the checkpoint; nil: there is none that can be used.
func (s *Service) loadCheckpoint() *checkpoint {
	b, err := s.opts.FS.ReadFile(checkpointFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		s.opts.Logger.WithError(err).Error("the timers' checkpoint cannot be read: the timer queue is read from its beginning")
		return nil
	}
	c, err := decodeCheckpoint(b)
	if err != nil {
		s.opts.Logger.WithError(err).Error("the timers' checkpoint cannot be used: the timer queue is read from its beginning")
		return nil
	}
	end, epoch := s.opts.Log.MaxCommitLogOffset(), s.opts.Log.Epoch()
	if c.epoch != epoch || c.logEnd > end {
		s.opts.Logger.WithFields(logrus.Fields{"logEnd": c.logEnd, "end": end, "epoch": c.epoch, "storeEpoch": epoch}).
			Warn("the timers' checkpoint is of another log: the timer queue is read from its beginning")
		return nil
	}
	return c
}

// openLines opens the Timelines. When files do not have messages that the checkpoint names, the error
// wraps wheel.ErrDamaged: the log may have them.
func (s *Service) openLines(c *checkpoint) error {
	lost := int64(0)
	for i := range s.lines {
		opts := wheel.Options{FS: s.opts.FS, Dir: dir + "/" + lineNames[i], Log: s.opts.Logger}
		var saved *wheel.State
		if c != nil {
			saved = c.lines[i]
		}
		t, err := wheel.Open(opts, saved, s.opts.Log.MaxCommitLogOffset())
		if err != nil {
			return errors.Join(fmt.Errorf("timer: %w", err), s.shutLines(i))
		}
		if stats := t.Stats(); c != nil {
			lost += stats.Damaged
		}
		s.lines[i] = &line{name: lineNames[i], wall: i == absoluteLine, t: t, loadedTo: -1, preparedAt: -1, farAt: -1}
	}
	if lost == 0 {
		return nil
	}
	s.damaged += lost
	return errors.Join(fmt.Errorf("timer: %w: %d messages are missing", wheel.ErrDamaged, lost), s.shutLines(len(s.lines)))
}

// shutLines closes the first lines again.
func (s *Service) shutLines(n int) (err error) {
	for _, l := range s.lines[:n] {
		err = errors.Join(err, l.t.Close())
	}
	return err
}

// countFar counts the messages in far files whose records the log does not have any more: those of
// the others are met in the timer queue.
func (s *Service) countFar() {
	begin := s.opts.Log.MinCommitLogOffset()
	count := func(item *wheel.Item) error {
		number := map[wheel.Flags]int64{0: 1, wheel.CancelRef: -1}[item.Flags]
		if number == 0 || item.LogOffset >= begin {
			return nil
		}
		return s.withRecord(item.LogOffset, item.Size, item.Record, func(v *message.View) error {
			s.topics.ofRecord(v).n += number
			return nil
		})
	}
	for _, l := range s.lines {
		var failed error
		err := eachEntry(l.t, 0, func(_ int64, item *wheel.Item) error {
			failed = errors.Join(failed, count(item))
			return nil
		})
		if err := errors.Join(failed, err); err != nil {
			s.opts.Logger.WithError(err).WithField("line", l.name).Error("not all far timers can be counted")
		}
	}
}

// eachEntry visits everything that is kept from a second on, stretch after stretch, until visit
// returns an error, and tells at the end what cannot be read.
func eachEntry(t *wheel.Timeline, from int64, visit func(number int64, item *wheel.Item) error) error {
	var damage error
	for b := t.Browse(from, math.MaxInt64); b != nil; b = t.Browse(from, math.MaxInt64) {
		var failed error
		for number, item, ok := b.Next(); ok && failed == nil; number, item, ok = b.Next() {
			failed = visit(number, &item)
		}
		from, damage = b.To, errors.Join(damage, b.Err())
		if b.Close(); failed != nil {
			return failed
		}
	}
	return damage
}
