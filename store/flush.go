package store

import (
	"errors"
	"fmt"

	"github.com/wheelmq/wheelmq/store/region"
)

// pageSize is the unit of flushCommitLogLeastPages, bytes.
const pageSize = 4096

// aheadLoop does what an append would have to wait for: it opens the next log file, touches
// the pages that are written next, and unmaps files when too many are mapped.
func (s *Store) aheadLoop() {
	for {
		select {
		case <-s.log.want:
			// The disk's keeper tries again and tells.
			s.noSpace(s.log.makeSpare())
		case from := <-s.log.prewarm:
			s.log.prefault(from)
		case <-s.budget.over:
			s.budget.trim()
		case <-s.stop:
			return
		}
	}
}

func (s *Store) wakeFlush() {
	if s.asleep.Load() && s.asleep.CompareAndSwap(true, false) {
		s.dirty <- struct{}{}
	}
}

// flushLoop syncs the log every FlushIntervalMs and writes a checkpoint every
// FlushThoroughMs while there is something to; it sleeps when everything is durable.
func (s *Store) flushLoop() {
	timer := s.opts.Wire.NewTimer()
	defer timer.Disarm()
	for {
		s.asleep.Store(true)
		if s.checkpointed.Load() != s.log.end.Load() {
			s.wakeFlush()
		}
		select {
		case <-s.dirty:
		case <-s.stop:
			return
		}
		thorough := s.opts.Wire.NowMillis() + s.opts.FlushThoroughMs
		for clean := false; !clean; {
			timer.Arm(s.opts.Wire.NowMillis() + s.opts.FlushIntervalMs)
			select {
			case <-timer.C():
			case <-s.stop:
				return
			}
			if s.broken.Load() != nil {
				return
			}
			s.index.ask(s.published.Load())
			var err error
			if s.opts.Wire.NowMillis() >= thorough {
				err = s.flush()
				clean = true
			} else if end := s.log.end.Load(); end-s.log.flushed.Load() >= int64(s.opts.FlushLeastPages)*pageSize {
				err = s.log.sync(end)
			}
			if s.failed(err) {
				return
			}
		}
	}
}

// errNoCheckpoint says that log and queues are durable, but the disk too full to note it.
var errNoCheckpoint = errors.New("no space for the checkpoint")

// failed stops the store after a flush that failed. A checkpoint that falls behind is no
// failure: recovery reads more of the log.
func (s *Store) failed(err error) bool {
	if err == nil || errors.Is(err, errNoCheckpoint) {
		return false
	}
	s.breakDown(err)
	return true
}

// flush makes everything durable, the index too.
func (s *Store) flush() error {
	s.flushMu.Lock()
	defer s.flushMu.Unlock()
	// Its mark names less of the log than is flushed below.
	s.syncIndex()
	return s.flushReadable()
}

// flushReadable makes the log and the queues durable in the order that recovery relies on: the
// log up to X, the queues after it, then a checkpoint that names X. Caller holds flushMu.
func (s *Store) flushReadable() error {
	s.mu.Lock()
	// What is not published has no unit yet: the checkpoint must not pass it.
	end, stamp := s.published.Load(), s.lastStamp
	s.mu.Unlock()
	if err := s.log.sync(end); err != nil {
		return err
	}
	if err := s.queues.sync(); err != nil {
		return err
	}
	err := s.writeCheckpoint(end, stamp)
	if errors.Is(err, region.ErrNoSpace) {
		return fmt.Errorf("%w: %w", errNoCheckpoint, err)
	}
	return err
}

// Flush makes durable what is readable. The index is left to the flusher: its changes are all
// over its file, and recovery makes it again from where it was durable. A failure leaves the
// store not writable.
func (s *Store) Flush() error {
	if err := s.Writable(); err != nil {
		return err
	}
	s.flushMu.Lock()
	err := s.flushReadable()
	s.flushMu.Unlock()
	if s.failed(err) {
		return err
	}
	return nil
}

// ErrBroken is wrapped by everything that a store refuses after a flush has failed, until it is
// opened again.
var ErrBroken = errors.New("not writable since a flush failed")

// breakDown stops accepting records: after a failed sync nobody knows what is on disk.
func (s *Store) breakDown(err error) {
	wrapped := fmt.Errorf("store: %w: %w", ErrBroken, err)
	if s.broken.CompareAndSwap(nil, &wrapped) {
		s.opts.Log.WithError(err).Error("a flush failed: the store accepts nothing more")
		if s.opts.OnBroken != nil {
			s.opts.OnBroken(wrapped)
		}
	}
}

func (s *Store) wakeCommit() {
	s.watchCommits()
	select {
	case s.wake <- struct{}{}:
	default:
	}
	s.wakeFlush()
}

// commitLoop is the group commit of SYNC_FLUSH.
func (s *Store) commitLoop() {
	for {
		select {
		case <-s.wake:
			s.commit()
		case <-s.stop:
			return
		}
	}
}

// commit makes what is pending durable, publishes it and tells who waits. After a failure
// nothing is tried again: a second sync may succeed without having written anything.
func (s *Store) commit() {
	s.mu.Lock()
	if len(s.pending) == 0 {
		// Swapping here would leave pending and committing one array, and the next group would
		// be overwritten by later puts while it is concluded.
		s.mu.Unlock()
		return
	}
	group, end := s.pending, s.log.end.Load()
	s.pending = s.committing[:0]
	s.beginCommit(group)
	s.mu.Unlock()
	err := s.Writable()
	if err == nil {
		if err = s.log.sync(end); err != nil {
			s.breakDown(err)
		}
	}
	for i := range group {
		s.conclude(&group[i], err)
	}
	s.beginCommit(nil)
	clear(group)
	s.committing = group
	s.index.offer(s.published.Load())
}

func (s *Store) conclude(w *waiting, err error) {
	result := w.result
	if err != nil {
		result.Status, result.Reason = ServiceNotAvailable, err.Error()
	} else {
		if w.queue != nil {
			// The put made the room: nothing is left to fail.
			_ = w.queue.put(w.offset, w.unit)
		}
		s.published.Store(w.unit.CommitLogOffset + int64(w.unit.Size))
	}
	if done := s.takeDone(w); done != nil {
		done.PutDone(result)
	}
	if err == nil && w.queue != nil {
		s.notify(w.queue, w.offset, w.unit)
	}
}
