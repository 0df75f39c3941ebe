package pop

import (
	"sync"
	"sync/atomic"

	"github.com/wheelmq/wheelmq/broker/offset"
)

// Key names a Window.
type Key struct {
	Group   string
	Topic   string // as stored: a retry topic has windows of its own
	QueueID int32
}

// Pop is what a pop has found in a window.
type Pop struct {
	Offsets     []int64 // that are handed out, ascending; not kept
	Next        int64   // where the next pop goes on
	PopTime     int64   // ms of message time, in the handles
	InvisibleMs int64
	Order       bool
	AttemptID   string // of a pop in order; nothing: it has none
}

// Window is one stored queue as one group pops it. Acquire returns it, and until Release its caller
// is the only one who pops; handles are served all the while.
type Window struct {
	s            *Service
	key          Key
	group, topic []byte // of key
	id           uint32
	busy         atomic.Bool // somebody pops

	mu     sync.Mutex // guards what follows
	cursor int64      // offset that is handed out next; offset.None: nobody has popped
	shown  int64      // what the offset table was told last; offset.None: nothing
	held   held
	block  *block // nil: nothing was handed out in order, or all of that is acknowledged
	gone   bool   // its topic or group was deleted
}

// Acquire returns a window to pop from. begin is the cursor of one that has none yet. false: somebody
// else pops from it just now; the real broker passes such a queue over.
func (s *Service) Acquire(k Key, begin func() int64) (*Window, bool) {
	w := s.window(k)
	if !w.busy.CompareAndSwap(false, true) {
		return nil, false
	}
	w.follow(begin)
	return w, true
}

// follow takes over what others did to the group's offset since the last pop: a reset (222), a
// client's own commit (15).
func (w *Window) follow(begin func() int64) {
	offsets := w.s.opts.Offsets
	if offsets.Resetting() {
		offsets.FollowReset(w.key.Group, w.key.Topic, w.key.QueueID)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	committed := offsets.Query(w.group, w.topic, w.key.QueueID)
	switch {
	case committed != offset.None && committed != w.shown:
		w.move(committed)
	case committed == offset.None:
		w.move(begin())
	}
}

// Cursor is the offset that is handed out next.
func (w *Window) Cursor() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cursor
}

// Move sets the cursor: the queue does not reach to where it was.
func (w *Window) Move(to int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.move(to)
}

// move sets the cursor. What was handed out in order is forgotten: it does not lie behind it any more.
// w.mu is held.
func (w *Window) move(to int64) {
	w.cursor, w.block = to, nil
	w.show()
}

// show tells the offset table where the group is. w.mu is held.
func (w *Window) show() {
	if w.cursor != w.shown && !w.gone {
		w.s.opts.Offsets.Commit(w.group, w.topic, w.key.QueueID, w.cursor)
		w.shown = w.cursor
	}
}

// Blocked tells whether a pop in order has to wait, for an acknowledgement or until an instant of
// message time, ms. A pop that repeats the last one has not.
func (w *Window) Blocked(attemptID string, now int64) (until int64, blocked bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.block == nil || attemptID != "" && w.block.attempt == attemptID {
		return 0, false
	}
	until = w.block.until()
	return until, until > now
}

// Counts is how often a message was handed out in order before the pop that is under way, with an
// attemptId. It is to be asked before Handed.
func (w *Window) Counts(attemptID string, offset int64) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return int(w.block.count(attemptID, offset))
}

// Handed notes what a pop hands out; p.Next without offsets passes over what nobody wants. With
// pending the answer waits for done.
func (w *Window) Handed(p *Pop, done func(error)) (pending bool, err error) {
	if p.Order && len(p.Offsets) > 0 {
		return w.handedInOrder(p, done)
	}
	w.mu.Lock()
	for _, offset := range p.Offsets {
		w.held.set(offset, entry{popTime: p.PopTime, due: p.PopTime + p.InvisibleMs})
	}
	w.cursor = p.Next
	w.show()
	w.mu.Unlock()
	if n := len(p.Offsets); n > 0 {
		first := p.Offsets[0]
		w.s.inFlight.Add(int64(n))
		w.s.look(task{due: p.PopTime + p.InvisibleMs, window: w.id, first: first, n: uint32(p.Offsets[n-1] - first + 1)})
	}
	return false, nil
}

func (w *Window) handedInOrder(p *Pop, done func(error)) (pending bool, err error) {
	due := p.PopTime + p.InvisibleMs
	b := &block{popTime: p.PopTime, attempt: p.AttemptID, msgs: make([]blocked, len(p.Offsets))}
	w.mu.Lock()
	for i, offset := range p.Offsets {
		b.msgs[i] = blocked{offset: offset, due: due, count: w.block.count(p.AttemptID, offset)}
	}
	w.block, w.cursor = b, p.Offsets[0]
	w.show()
	w.mu.Unlock()
	w.s.look(task{due: due, window: w.id})
	return false, nil
}

// Release lets others pop.
func (w *Window) Release() { w.busy.Store(false) }
