package pop

import (
	"errors"
	"math"
	"sync"
	"sync/atomic"

	"github.com/wheelmq/wheelmq/broker/offset"
	"github.com/wheelmq/wheelmq/broker/pop/journal"
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

	record  writer
	subject journal.Subject
	file    uint32 // of the journal, that tells the cursor and the block
}

// Acquire returns a window to pop from. begin is the cursor of one that has none yet. false: somebody
// else pops from it just now; the real broker passes such a queue over.
func (s *Service) Acquire(k Key, begin func() int64) (w *Window, ok bool, err error) {
	for {
		w = s.window(k)
		if !w.busy.CompareAndSwap(false, true) {
			return nil, false, nil
		}
		if err = w.follow(begin); err == nil {
			return w, true, nil
		}
		if w.Release(); !errors.Is(err, errDeleted) {
			return nil, false, err
		}
	}
}

// follow takes over what others did to the group's offset since the last pop: a reset (222), a
// client's own commit (15).
func (w *Window) follow(begin func() int64) error {
	offsets := w.s.opts.Offsets
	if offsets.Resetting() && offsets.FollowReset(w.key.Group, w.key.Topic, w.key.QueueID) {
		// A kill must not reset again what is popped from now on. When it fails, the table says so.
		_ = offsets.Save()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	committed := offsets.Query(w.group, w.topic, w.key.QueueID)
	switch {
	case committed != offset.None && committed != w.shown:
		return w.move(committed)
	case committed == offset.None:
		return w.move(begin())
	}
	return nil
}

// Cursor is the offset that is handed out next.
func (w *Window) Cursor() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cursor
}

// InFlight is how many messages are in flight that were not handed out in order.
func (w *Window) InFlight() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.held.n
}

// Move sets the cursor: the queue does not reach to where it was.
func (w *Window) Move(to int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.move(to)
}

// move sets the cursor. What was handed out in order is forgotten: it does not lie behind it any more.
// w.mu is held.
func (w *Window) move(to int64) error {
	was, block := w.cursor, w.block
	w.cursor, w.block = to, nil
	if err := w.writeCursor(); err != nil {
		w.cursor, w.block = was, block
		return err
	}
	w.show()
	return nil
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

// Blocked tells the same of a window that may not be there.
func (s *Service) Blocked(k Key, attemptID string, now int64) (until int64, blocked bool) {
	if w := s.find(k); w != nil {
		return w.Blocked(attemptID, now)
	}
	return 0, false
}

// Counts is how often a message was handed out in order before the pop that is under way, with an
// attemptId. It is to be asked before Handed.
func (w *Window) Counts(attemptID string, offset int64) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return int(w.block.count(attemptID, offset))
}

// Handed notes what a pop hands out; p.Next without offsets passes over what nobody wants. An error
// is that nothing can be noted, and nothing may be handed out. With pending the answer waits for done.
func (w *Window) Handed(p *Pop, done func(error)) (pending bool, err error) {
	var end int64
	if p.Order && len(p.Offsets) > 0 {
		end, err = w.handedInOrder(p)
	} else {
		end, err = w.handed(p)
	}
	if err != nil {
		return false, err
	}
	return w.s.journal.Wait(end, done), nil
}

func (w *Window) handed(p *Pop) (end int64, err error) {
	w.mu.Lock()
	file, end, err := w.writePopped(p)
	if err != nil {
		w.mu.Unlock()
		return 0, err
	}
	fresh := int64(0)
	for _, offset := range p.Offsets {
		was := w.held.set(offset, entry{popTime: p.PopTime, due: p.PopTime + p.InvisibleMs, file: file})
		if was.popTime == 0 {
			fresh++
		} else {
			w.s.tells(was.file, -1)
			w.s.driver.settled(&was)
		}
	}
	w.file, w.cursor = file, p.Next
	w.pass(p.PopTime)
	w.show()
	w.mu.Unlock()
	if n := len(p.Offsets); n > 0 {
		w.s.tells(file, int64(n))
		w.s.inFlight.Add(fresh)
		w.lookAt(p.PopTime+p.InvisibleMs, p.Offsets)
	}
	return end, nil
}

// pass forgets what was handed out in order and is visible again, when a pop goes past it: to acknowledge
// it would take the cursor back. w.mu is held.
func (w *Window) pass(now int64) {
	if w.block != nil && w.block.until() <= now {
		w.block = nil
	}
}

// lookAt has the driver look at messages when they are visible again.
func (w *Window) lookAt(due int64, offsets []int64) {
	first, last := offsets[0], offsets[len(offsets)-1]
	if last-first < math.MaxInt32 {
		w.s.look(task{due: due, window: w.id, first: first, n: uint32(last - first + 1)})
		return
	}
	for _, offset := range offsets {
		w.s.look(task{due: due, window: w.id, first: offset, n: 1})
	}
}

func (w *Window) handedInOrder(p *Pop) (end int64, err error) {
	due := p.PopTime + p.InvisibleMs
	b := &block{popTime: p.PopTime, attempt: p.AttemptID, msgs: make([]blocked, len(p.Offsets))}
	w.mu.Lock()
	for i, offset := range p.Offsets {
		b.msgs[i] = blocked{offset: offset, due: due, count: w.block.count(p.AttemptID, offset)}
	}
	if end, err = w.writeBlock(b, p.Offsets[0], false); err == nil {
		w.block, w.cursor = b, p.Offsets[0]
		w.show()
	}
	w.mu.Unlock()
	if err == nil {
		w.s.look(task{due: due, window: w.id})
	}
	return end, err
}

// Release lets others pop.
func (w *Window) Release() { w.busy.Store(false) }
