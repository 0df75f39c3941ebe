package pop

// Flight tells of a message that a group was given and has not acknowledged: when, and until when it is
// invisible, ms of message time. ok is false for any other.
func (s *Service) Flight(k Key, offset int64) (popTime, due int64, ok bool) {
	w := s.find(k)
	if w == nil {
		return 0, 0, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if e := w.held.find(offset); e != nil {
		return e.popTime, e.due, true
	}
	if w.block == nil {
		return 0, 0, false
	}
	m := w.block.find(offset)
	if m == nil || m.acked || m.due <= s.opts.Store.NowMillis() {
		return 0, 0, false
	}
	return w.block.popTime, m.due, true
}

// WindowOf tells of the window of a group on a queue; ok is false when the group never popped from it.
func (s *Service) WindowOf(k Key) (i Info, ok bool) {
	w := s.find(k)
	if w == nil {
		return i, false
	}
	return w.info(s.opts.Store.NowMillis()), true
}
