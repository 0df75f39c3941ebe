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
func (s *Service) Ack(k Key, offset, popTime int64, done func(error)) (acked, pending bool, err error) {
	one := [1]int64{offset}
	n, pending, err := s.AckBatch(k, popTime, one[:], done)
	return n == 1, pending, err
}

// AckBatch ends the flight of messages that were popped at one instant, and returns how many there
// were. What offsets holds is overwritten.
func (s *Service) AckBatch(k Key, popTime int64, offsets []int64, done func(error)) (acked int, pending bool, err error) {
	w := s.find(k)
	if w == nil {
		s.foreign.remember(k, popTime, offsets)
		return 0, false, nil
	}
	acked, end, err := w.ack(popTime, offsets)
	if err != nil {
		return 0, false, err
	}
	if acked == 0 {
		s.foreign.remember(k, popTime, offsets)
		return 0, false, nil
	}
	s.counts.acked(s.opts.Store.NowMillis()-popTime, acked)
	return acked, s.journal.Wait(end, done), nil
}

func (w *Window) ack(popTime int64, offsets []int64) (acked int, end int64, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if acked, end, err = w.ackInOrder(popTime, offsets); acked > 0 || err != nil {
		return acked, end, err
	}
	valid, before := offsets[:0], w.held.n
	for _, offset := range offsets {
		if e := w.held.find(offset); e != nil && e.popTime == popTime && e.state&leaving == 0 {
			valid = append(valid, offset)
		}
	}
	for len(valid) > 0 {
		part := valid[:min(len(valid), maxKept)]
		if end, err = w.writeGone(part...); err != nil {
			return acked, end, err
		}
		for _, offset := range part {
			if w.held.find(offset) != nil { // named twice
				w.end(offset)
				acked++
			}
		}
		valid = valid[len(part):]
	}
	w.freed(before)
	return acked, end, nil
}

// end ends the flight of a message. w.mu is held.
func (w *Window) end(offset int64) {
	w.s.tells(w.held.find(offset).file, -1)
	w.held.drop(offset)
	w.s.inFlight.Add(-1)
}

// freed tells those who wait that the queue may be popped from, when that many were in flight. w.mu is held.
func (w *Window) freed(before int64) {
	if most := w.s.settings.Load().MaxInFlight; most > 0 && before >= most && w.held.n < most {
		w.s.visible(w.key)
	}
}

// ackInOrder is the acknowledgement of messages that were handed out in order; 0: they were not.
// w.mu is held.
func (w *Window) ackInOrder(popTime int64, offsets []int64) (acked int, end int64, err error) {
	b := w.block
	if b == nil || b.popTime != popTime {
		return 0, 0, nil
	}
	after := b.clone()
	for _, offset := range offsets {
		if m := after.find(offset); m != nil && !m.acked {
			m.acked = true
			acked++
		}
	}
	if acked == 0 {
		return 0, 0, nil
	}
	cursor := max(w.cursor, after.next()) // a pop without order may have gone on (profile=5.5.0)
	if after.done() {
		after = nil
	}
	if end, err = w.writeBlock(after, cursor, true); err != nil {
		return 0, 0, err
	}
	w.block, w.cursor = after, cursor
	w.show()
	switch {
	case after == nil || after.until() <= w.s.opts.Store.NowMillis():
		w.s.visible(w.key)
	case after.until() < b.until(): // what blocked it longest is acknowledged
		w.s.look(task{due: after.until(), window: w.id})
	}
	return acked, end, nil
}

// ChangeInvisible sets when a message is visible again.
func (s *Service) ChangeInvisible(k Key, c *Change, done func(error)) (res Changed, pending bool, err error) {
	w := s.find(k)
	if w == nil {
		return Changed{}, false, nil
	}
	res, t, end, err := w.change(c)
	if !res.OK || err != nil {
		return Changed{}, false, err
	}
	s.look(t)
	return res, s.journal.Wait(end, done), nil
}

func (w *Window) change(c *Change) (res Changed, t task, end int64, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	due := c.Now + c.InvisibleMs
	if b := w.block; b != nil && b.popTime == c.PopTime {
		if m := b.find(c.Offset); m != nil && !m.acked {
			was := m.due
			m.due = due
			if end, err = w.writeBlock(b, w.cursor, true); err != nil {
				m.due = was
				return res, t, 0, err
			}
			b.told = false
			return Changed{OK: true, PopTime: c.PopTime, InvisibleMs: due - c.PopTime}, task{due: b.until(), window: w.id}, end, nil
		}
	}
	e := w.held.find(c.Offset)
	if e == nil || e.popTime != c.PopTime || e.state&leaving != 0 {
		return res, t, 0, nil
	}
	was := *e
	e.popTime, e.due, e.state = c.Now, due, 0
	if c.Suspend {
		e.state = suspended
	}
	one := [1]int64{c.Offset}
	if end, err = w.writeHeld(e.popTime, e.due, e.state, one[:], was.file); err != nil {
		*e = was
		return res, t, 0, err
	}
	return Changed{OK: true, PopTime: c.Now, InvisibleMs: c.InvisibleMs}, task{due: due, window: w.id, first: c.Offset, n: 1}, end, nil
}
