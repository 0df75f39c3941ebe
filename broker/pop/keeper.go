package pop

// keptSize and windowSize are twice what the journal takes for a message in flight that was popped
// alone, and for a window, bytes: to empty a file frees half of it at least.
const (
	keptSize   = 64
	windowSize = 640
)

// keeper is what the journal asks of a Service.
type keeper struct {
	s       *Service
	offsets []int64
}

// Keep implements journal.Keeper: it notes anew which messages of a file's record are still in flight.
func (k keeper) Keep(file uint32, kind byte, payload []byte) error {
	if kind != recordPopped && kind != recordHeld {
		return nil
	}
	r := reader{b: payload}
	w := k.s.at(r.window())
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	popTime, due := int64(0), int64(0)
	kept := k.offsets[:0]
	var as state
	visit := func(offset int64) {
		if e := w.held.find(offset); e != nil && e.file == file && e.popTime == popTime && len(kept) < cap(kept) {
			kept, due, as = append(kept, offset), e.due, e.state&suspended
		}
	}
	base := int64(0)
	if kind == recordPopped {
		base = r.int()
		r.int()
	}
	popTime = r.int()
	r.int()
	if kind == recordHeld {
		r.int()
	}
	r.offsets(base, visit)
	if len(kept) == 0 || r.err != nil {
		return nil
	}
	_, err := w.writeHeld(popTime, due, as, kept, file)
	return err
}

// KeepRest implements journal.Keeper: it notes anew the cursors and blocks that a file tells of.
func (k keeper) KeepRest(file uint32) error {
	for _, w := range k.s.all() {
		w.mu.Lock()
		err := error(nil)
		if w.file == file && !w.gone {
			if w.block != nil {
				_, err = w.writeBlock(w.block, w.cursor, true)
			} else {
				err = w.writeCursor()
			}
		}
		w.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// Idle implements journal.Keeper.
func (k keeper) Idle(file uint32) bool { return k.s.live[file%ring].Load() == 0 }

// Size implements journal.Keeper.
func (k keeper) Size() int64 {
	k.s.mu.RLock()
	windows := len(k.s.windows)
	k.s.mu.RUnlock()
	return k.s.inFlight.Load()*keptSize + int64(windows)*windowSize
}

// Note implements journal.Keeper: the log offset below which no copy is missing from the journal.
func (k keeper) Note() int64 {
	end := k.s.opts.Log.MaxCommitLogOffset()
	if from := k.s.driver.from.Load(); from >= 0 {
		return min(from, end)
	}
	return end
}
