package pop

// Change is how long a message is to be invisible from now on.
type Change struct {
	Offset      int64
	PopTime     int64 // of its handle
	Now         int64 // ms of message time
	InvisibleMs int64 // from Now on
	Suspend     bool  // its next delivery does not count as another one
}

// Changed is what became of it. PopTime and InvisibleMs are those of the new handle.
type Changed struct {
	OK          bool // false: the handle was stale
	PopTime     int64
	InvisibleMs int64
}

// Ack ends the flight of a message. Without effect, it is no error: the handle was stale. With pending
// the answer waits for done.
func (s *Service) Ack(k Key, offset, popTime int64, done func(error)) (acked bool, pending bool, err error) {
	w := s.find(k)
	if w == nil {
		return false, false, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ackInOrder(offset, popTime) {
		return true, false, nil
	}
	e := w.held.find(offset)
	if e == nil || e.popTime != popTime || e.state&reviving != 0 {
		return false, false, nil
	}
	w.end(offset)
	return true, false, nil
}

// AckBatch ends the flight of messages that were popped at one instant, and returns how many there
// were.
func (s *Service) AckBatch(k Key, popTime int64, offsets []int64, done func(error)) (acked int, pending bool, err error) {
	w := s.find(k)
	if w == nil {
		return 0, false, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, offset := range offsets {
		if w.ackInOrder(offset, popTime) {
			acked++
			continue
		}
		if e := w.held.find(offset); e != nil && e.popTime == popTime && e.state&reviving == 0 {
			w.end(offset)
			acked++
		}
	}
	return acked, false, nil
}

// end ends the flight of a message. w.mu is held.
func (w *Window) end(offset int64) {
	w.held.drop(offset)
	w.s.inFlight.Add(-1)
}

// ackInOrder is the acknowledgement of a message that was handed out in order; false: it was not.
// w.mu is held.
func (w *Window) ackInOrder(offset, popTime int64) bool {
	b := w.block
	if b == nil || b.popTime != popTime {
		return false
	}
	m := b.find(offset)
	if m == nil || m.acked {
		return false
	}
	m.acked = true
	if w.cursor = b.next(); b.done() {
		w.block = nil
	}
	w.show()
	if w.block == nil || w.block.until() <= w.s.opts.Store.NowMillis() {
		w.s.visible(w.key)
	}
	return true
}

// ChangeInvisible sets when a message is visible again.
func (s *Service) ChangeInvisible(k Key, c *Change, done func(error)) (res Changed, pending bool, err error) {
	w := s.find(k)
	if w == nil {
		return Changed{}, false, nil
	}
	due := c.Now + c.InvisibleMs
	w.mu.Lock()
	if b := w.block; b != nil && b.popTime == c.PopTime {
		if m := b.find(c.Offset); m != nil && !m.acked {
			m.due, b.told = due, false
			due = b.until()
			w.mu.Unlock()
			s.look(task{due: due, window: w.id})
			return Changed{OK: true, PopTime: c.PopTime, InvisibleMs: c.Now + c.InvisibleMs - c.PopTime}, false, nil
		}
	}
	e := w.held.find(c.Offset)
	if e == nil || e.popTime != c.PopTime || e.state&reviving != 0 {
		w.mu.Unlock()
		return Changed{}, false, nil
	}
	e.popTime, e.due, e.state = c.Now, due, 0
	if c.Suspend {
		e.state = suspended
	}
	w.mu.Unlock()
	s.look(task{due: due, window: w.id, first: c.Offset, n: 1})
	return Changed{OK: true, PopTime: c.Now, InvisibleMs: c.InvisibleMs}, false, nil
}
