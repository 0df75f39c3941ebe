package store

// A put under SYNC_FLUSH that is not durable after syncFlushTimeout is answered with
// FLUSH_DISK_TIMEOUT: the message is stored, and published when the disk comes round. The
// watch over it wakes at most once per timeout, and only while puts are under way.

// watchCommits begins to watch, unless the watch is on.
func (s *Store) watchCommits() {
	if s.watching.CompareAndSwap(false, true) {
		s.watch <- struct{}{}
	}
}

func (s *Store) watchLoop() {
	timer := s.opts.Wire.NewTimer()
	defer timer.Disarm()
	for {
		select {
		case <-s.watch:
			timer.Arm(s.opts.Wire.NowMillis() + s.opts.SyncFlushTimeoutMs)
		case <-timer.C():
			s.watching.Store(false)
			if s.answerLate(s.opts.Wire.NowMillis()) {
				s.watchCommits()
			}
		case <-s.stop:
			return
		}
	}
}

// answerLate answers the puts whose time is up, and tells whether others still wait.
func (s *Store) answerLate(now int64) (more bool) {
	var late []waiting
	collect := func(group []waiting) {
		for i := range group {
			w := &group[i]
			switch {
			case w.done == nil:
			case w.deadline <= now:
				late = append(late, *w)
				w.done = nil
			default:
				more = true
			}
		}
	}
	s.mu.Lock()
	collect(s.pending)
	s.mu.Unlock()
	s.lateMu.Lock()
	collect(s.underWay)
	s.lateMu.Unlock()
	for i := range late {
		late[i].result.Status = FlushDiskTimeout
		late[i].done.PutDone(late[i].result)
	}
	s.timeouts.Add(int64(len(late)))
	return more
}

// beginCommit and takeDone keep the watch and the group commit from answering the same put.
func (s *Store) beginCommit(group []waiting) {
	s.lateMu.Lock()
	s.underWay = group
	s.lateMu.Unlock()
}

func (s *Store) takeDone(w *waiting) Completion {
	s.lateMu.Lock()
	defer s.lateMu.Unlock()
	done := w.done
	w.done = nil
	return done
}
