package store

import (
	"fmt"
)

// prepareLoop opens the next log file before it is needed.
func (s *Store) prepareLoop() {
	defer s.wg.Done()
	for {
		select {
		case start := <-s.log.want:
			s.log.prepare(start)
		case <-s.stop:
			return
		}
	}
}

// flushLoop makes the log durable every FlushIntervalMs while it is written to, and sleeps
// otherwise no shorter.
func (s *Store) flushLoop() {
	defer s.wg.Done()
	timer := s.opts.Clock.NewTimer()
	defer timer.Disarm()
	for {
		timer.Arm(s.opts.Clock.NowMillis() + s.opts.FlushIntervalMs)
		select {
		case <-timer.C():
		case <-s.stop:
			return
		}
		if s.log.flushed.Load() == s.log.end.Load() {
			continue
		}
		if err := s.flush(); err != nil {
			s.breakDown(err)
		}
	}
}

// flush makes everything durable in the order that recovery relies on: the log up to X, the
// queues after it, then a checkpoint that names X.
func (s *Store) flush() error {
	s.mu.Lock()
	end, stamp := s.log.end.Load(), s.lastStamp
	if s.opts.SyncFlush && len(s.pending) > 0 {
		// What is not published yet has no unit; the checkpoint must not pass it.
		end = s.pending[0].unit.CommitLogOffset
	}
	s.mu.Unlock()
	if err := s.log.sync(end); err != nil {
		return err
	}
	for _, q := range s.queues.all() {
		if err := q.sync(); err != nil {
			return err
		}
	}
	return s.writeCheckpoint(end, stamp)
}

// breakDown stops accepting records: after a failed sync nobody knows what is on disk.
func (s *Store) breakDown(err error) {
	wrapped := fmt.Errorf("store: not writable since a flush failed: %w", err)
	if s.broken.CompareAndSwap(nil, &wrapped) {
		s.opts.Log.WithError(err).Error("a flush failed: the store accepts nothing more")
	}
}

func (s *Store) wakeCommit() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// commitLoop is the group commit of SYNC_FLUSH.
func (s *Store) commitLoop() {
	defer s.wg.Done()
	for {
		select {
		case <-s.wake:
			s.commit()
		case <-s.stop:
			return
		}
	}
}

// commit makes what is pending durable, publishes it and tells who waits.
func (s *Store) commit() {
	s.mu.Lock()
	group, end := s.pending, s.log.end.Load()
	s.pending = nil
	s.mu.Unlock()
	if len(group) == 0 {
		return
	}
	err := s.log.sync(end)
	if err != nil {
		s.breakDown(err)
	}
	for _, w := range group {
		if err == nil {
			if e := w.queue.put(w.offset, w.unit); e != nil {
				s.breakDown(e)
				err = e
			}
		}
		if w.done != nil {
			if err != nil {
				w.result.Status = ServiceNotAvailable
			}
			w.done.PutDone(w.result)
		}
		if err == nil {
			s.arrived(w.queue, w.offset, w.unit.TagsCode)
		}
	}
}
