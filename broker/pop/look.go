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

// Info is what there is to know of a window.
type Info struct {
	Key      Key
	Cursor   int64
	InFlight int64 // in order or not
	InOrder  int64 // of those: they lie behind the cursor
}

// Each visits the windows.
func (s *Service) Each(visit func(Info), now int64) {
	for _, w := range s.all() {
		visit(w.info(now))
	}
}

func (w *Window) info(now int64) Info {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := Info{Key: w.key, Cursor: w.cursor, InFlight: w.held.n}
	if w.block != nil {
		i.InOrder = w.block.inFlight(now)
		i.InFlight += i.InOrder
	}
	return i
}

// InFlight is how many messages of a stored topic are in flight to a group.
func (s *Service) InFlight(group, topic string) (n int64) {
	now := s.opts.Store.NowMillis()
	s.Each(func(i Info) {
		if i.Key.Group == group && i.Key.Topic == topic {
			n += i.InFlight
		}
	}, now)
	return n
}
