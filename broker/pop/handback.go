package pop

import "math"

// HandBack takes every group back to the first message that is in flight to it, for a server that knows
// nothing of what is, and returns how many queues and messages that is about. It is for a service that
// was not started.
func (s *Service) HandBack() (queues, messages int64) {
	for _, w := range s.all() {
		w.mu.Lock()
		if w.held.n > 0 {
			first := int64(math.MaxInt64)
			w.held.each(0, math.MaxInt64, func(at int64, _ *entry) bool {
				first = at
				return false
			})
			s.opts.Offsets.Commit(w.group, w.topic, w.key.QueueID, min(first, w.cursorOr(first)))
			queues, messages = queues+1, messages+w.held.n
		}
		w.mu.Unlock()
	}
	return queues, messages
}

// cursorOr is the cursor, or another offset when there is none. w.mu is held.
func (w *Window) cursorOr(other int64) int64 {
	if w.cursor < 0 {
		return other
	}
	return w.cursor
}

// Discard ends a service that was not started, and removes its journal.
func (s *Service) Discard() error {
	if err := s.journal.Close(); err != nil {
		return err
	}
	return s.opts.FS.Remove(journalDir)
}
