package store

// What a store's goroutines do, one step at a time: a test that never calls Start drives the
// store alone, and the same seed gives the same steps.

// CommitStep is one turn of the group commit.
func (s *Store) CommitStep() { s.commit() }

// FlushLogStep is a turn of the flusher that syncs the log.
func (s *Store) FlushLogStep() error { return s.log.sync(s.log.end.Load()) }

// FlushStep is a turn of the flusher that writes a checkpoint.
func (s *Store) FlushStep() error { return s.flush() }

// IndexStep lets the index catch up with what is published.
func (s *Store) IndexStep() { s.index.build(s.published.Load, nil) }

// ExpireStep deletes the oldest log file if it may go.
func (s *Store) ExpireStep() {
	if s.deleteOldest(true, 1) {
		s.noteDeleted()
	}
}

// AheadStep makes the next log file if one was asked for.
func (s *Store) AheadStep() error {
	select {
	case <-s.log.want:
		return s.log.makeSpare()
	default:
		return nil
	}
}

// CleanStep is one look for expired files.
func (s *Store) CleanStep() { s.deleteExpired() }

// DiscardOldest lets go of the oldest log file as retention does when it deletes it, while a
// flush that has begun still means to sync it.
func (s *Store) DiscardOldest() { (*s.log.files.Load())[0].discard() }
