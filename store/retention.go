package store

import (
	"fmt"
	"slices"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/message"
)

// deleteFileBatchMax is how many log files one round deletes at most, as RocketMQ's
// deleteFileBatchMax.
const deleteFileBatchMax = 10

// Retention says when log files are deleted. Ratios are 0 to 1 of the disk.
type Retention struct {
	ReservedMs   int64   // fileReservedTime: a file is expired when its youngest record is older, ms
	DeleteHours  []int   // deleteWhen: hours of the day, local time, at which expired files go
	MaxRatio     float64 // diskMaxUsedSpaceRatio: above it expired files go at any hour
	ForceRatio   float64 // diskSpaceCleanForciblyRatio: above it the oldest files go, expired or not
	ForceEnabled bool    // cleanFileForciblyEnable
	WarnRatio    float64 // diskSpaceWarningLevelRatio: above it clients' records are refused
	IntervalMs   int64   // cleanResourceInterval: between looks, ms
	Keep         bool    // files go only on request: a virtual clock passes hours in a moment
}

// DefaultRetention is RocketMQ's.
func DefaultRetention() Retention {
	return Retention{
		ReservedMs: 72 * 3_600_000, DeleteHours: []int{4}, MaxRatio: 0.75, ForceRatio: 0.85, ForceEnabled: true,
		WarnRatio: 0.90, IntervalMs: 10_000,
	}
}

// Pin is the oldest record that somebody still needs: no file from it on is deleted.
type Pin struct {
	CommitLogOffset int64
	What            string // for people: "delay level 18, due …"
}

// Pinner tells what must not be deleted; false: nothing.
type Pinner func() (Pin, bool)

// cleanLoop looks after the disk: at every interval, oftener while it is full, and when asked.
func (s *Store) cleanLoop() {
	timer := s.opts.Wire.NewTimer()
	defer timer.Disarm()
	for {
		s.checkSpace()
		s.deleteExpired()
		wait := s.keep.Load().IntervalMs
		if s.full.Load() != nil {
			wait = min(wait, fullRetryMs)
		}
		timer.Arm(s.opts.Wire.NowMillis() + wait)
		select {
		case <-timer.C():
		case <-s.clean:
		case <-s.stop:
			return
		}
	}
}

// Keep changes when log files are deleted, from the next look on, which comes at once.
func (s *Store) Keep(r Retention) {
	s.keep.Store(&r)
	s.wakeClean()
}

func (s *Store) wakeClean() {
	select {
	case s.clean <- struct{}{}:
	default:
	}
}

// DeleteExpired deletes expired files at the next look, whatever the hour (request code 329,
// deleteExpiredCommitLog).
func (s *Store) DeleteExpired() {
	s.manual.Store(true)
	s.wakeClean()
}

// deleteExpired is one round of retention.
func (s *Store) deleteExpired() {
	manual := s.manual.Swap(false)
	deleted := 0
	for deleted < deleteFileBatchMax && s.deleteNext(manual) {
		deleted++
	}
	if deleted > 0 {
		s.noteDeleted()
	}
	if deleted == deleteFileBatchMax {
		s.manual.CompareAndSwap(false, manual)
		s.wakeClean()
	}
}

// deleteNext deletes the first log file if its time has come or the disk demands it, and tells
// whether it did. The disk is measured for every file: no more go before their time than must.
func (s *Store) deleteNext(manual bool) bool {
	space, err := s.fs.Space()
	if err != nil {
		return false
	}
	r, used := s.keep.Load(), space.Ratio()
	if r.Keep && !manual {
		s.pinned.Store(nil)
		return false
	}
	force := r.ForceEnabled && used > r.ForceRatio
	due := manual || used > r.MaxRatio ||
		slices.Contains(r.DeleteHours, time.UnixMilli(s.opts.Clock.NowMillis()).Hour())
	if !force && !due {
		s.pinned.Store(nil)
		return false
	}
	return s.deleteOldest(force, used)
}

// noteDeleted writes a checkpoint: a start that finds less of a queue than the last one counted
// rebuilds it.
func (s *Store) noteDeleted() { s.failed(s.flush()) }

// deleteOldest deletes the first log file if it may go, and tells whether it did.
func (s *Store) deleteOldest(force bool, used float64) bool {
	files := *s.log.files.Load()
	if len(files) < 2 || files[1].start > s.checkpointed.Load() || files[1].start > s.log.flushed.Load() {
		return false
	}
	if !force && !s.expired(files[1]) {
		s.pinned.Store(nil)
		return false
	}
	if pin, ok := s.needed(files[1].start); ok {
		s.notePin(pin)
		return false
	}
	s.pinned.Store(nil)
	if err := s.deleteHead(files[0], files[1].start); err != nil {
		s.opts.Log.WithError(err).WithField("file", files[0].name).Error("a log file cannot be deleted")
		return false
	}
	level, what := logrus.InfoLevel, "a log file is deleted"
	if force && !s.expired(files[1]) {
		level, what = logrus.WarnLevel, "a log file is deleted before its time: the disk is used above diskSpaceCleanForciblyRatio"
	}
	s.opts.Log.WithFields(logrus.Fields{"file": files[0].name, "used": fmt.Sprintf("%.1f %%", used*100)}).Log(level, what)
	return true
}

// needed tells what is still needed of the log below an offset.
func (s *Store) needed(below int64) (pin Pin, needed bool) {
	if s.opts.Pin != nil {
		if pin, ok := s.opts.Pin(); ok && pin.CommitLogOffset < below {
			return pin, true
		}
	}
	if s.opts.BeforeDelete != nil {
		if err := s.opts.BeforeDelete(below, s.stop); err != nil {
			return Pin{CommitLogOffset: s.log.min(), What: err.Error()}, true
		}
	}
	return pin, false
}

// expired tells whether everything before a file is old enough: its first record is younger
// than all of that.
func (s *Store) expired(next *file) bool {
	if next.hold() != nil {
		return false
	}
	defer next.drop()
	v, err := message.Parse(next.b)
	return err == nil && v.StoreTimestamp+s.keep.Load().ReservedMs <= s.opts.Clock.NowMillis()
}

func (s *Store) notePin(pin Pin) {
	if old := s.pinned.Swap(&pin); old == nil {
		s.opts.Log.WithFields(logrus.Fields{"offset": pin.CommitLogOffset, "what": pin.What}).
			Warn("the oldest log file is kept beyond its time: a message in it is needed")
	}
}

// deleteHead removes the first log file, after the queues have let go of it.
func (s *Store) deleteHead(head *file, newMin int64) error {
	for _, q := range s.queues.all() {
		q.raiseMin(newMin)
	}
	s.mu.Lock()
	files := *s.log.files.Load()
	rest := append(make([]*file, 0, len(files)), files[1:]...)
	s.log.files.Store(&rest)
	s.mu.Unlock()
	head.discard()
	if err := s.fs.Remove(head.name); err != nil {
		return err
	}
	// Names go in the order of the log: a power cut must not leave a hole.
	if err := s.fs.SyncDir(commitLogDir); err != nil {
		return err
	}
	if err := s.deleteQueueHeads(); err != nil {
		return err
	}
	return s.index.deleteBelow(newMin)
}

// deleteQueueHeads removes the queue files that hold nothing but units of deleted log files.
func (s *Store) deleteQueueHeads() error {
	s.flushMu.Lock()
	defer s.flushMu.Unlock()
	for _, q := range s.queues.all() {
		if err := q.deleteHead(); err != nil {
			return err
		}
	}
	return nil
}

// CleanQueues lets every queue go of what the log has no more (request code 306), which it does by
// itself whenever a log file is deleted.
func (s *Store) CleanQueues() error {
	begin := s.MinCommitLogOffset()
	for _, q := range s.queues.all() {
		q.raiseMin(begin)
	}
	if err := s.deleteQueueHeads(); err != nil {
		return fmt.Errorf("store: clean queues: %w", err)
	}
	s.noteDeleted()
	return nil
}

// QueueTopics are the topics that have queues, sorted.
func (s *Store) QueueTopics() []string {
	var names []string
	for _, q := range s.queues.all() {
		names = append(names, q.Topic())
	}
	return slices.Compact(names)
}
