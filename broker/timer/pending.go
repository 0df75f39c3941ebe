package timer

import (
	"cmp"
	"iter"
	"slices"

	"github.com/wheelmq/wheelmq/broker/redeliver"
	"github.com/wheelmq/wheelmq/message"
)

// Pending is a message that waits for its instant, by its place in the log.
type Pending struct {
	Due             int64 // ms
	Wall            bool  // Due is an instant of the wall's clock, not of message time
	CommitLogOffset int64 // bytes
	Size            int32 // of the record, bytes

	second int64
	record []byte // nil: in the log
}

// compareDue is the order in which messages of a line are delivered.
func compareDue(a, b Pending) int {
	return cmp.Or(cmp.Compare(a.second, b.second), cmp.Compare(a.Due, b.Due), cmp.Compare(a.CommitLogOffset, b.CommitLogOffset))
}

// Count is how many messages pend. One that is cancelled counts until its second is due.
func (s *Service) Count() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(0, s.topics.total()) + s.untaken()
}

// untaken is how many records of the timer queue are not taken in.
func (s *Service) untaken() int64 {
	if q := s.opts.Log.Queue(topicTimer, 0); q != nil {
		return max(0, q.Max()-max(s.queueOffset, q.Min()))
	}
	return 0
}

// Due is the instant of message time at which the first pending message is due, ms, and how many
// there are; with none the instant is math.MaxInt64. Messages that have just come count, cancelled
// ones do not when exact instants are asked for (Options.InOrder).
func (s *Service) Due() (next, messages int64) {
	next = never
	now := s.opts.Store.NowMillis()
	for p := range s.Pending() {
		if messages++; messages == 1 {
			next = p.Due
			if p.Wall {
				next = toStore(p.Due, s.nowOf(s.lines[absoluteLine], now), now)
			}
		}
		if !s.opts.InOrder {
			return next, s.Count()
		}
	}
	return next, messages
}

// Pending lists the pending messages in the order in which they come due, those of the same instant
// as they arrived. Nothing is held meanwhile: what is delivered while the caller goes on may be in
// the list. Memory is taken for a second, and for what lies beyond two hours a few thousand messages
// at a time.
func (s *Service) Pending() iter.Seq[Pending] { return s.PendingFrom(0) }

// PendingFrom lists like Pending those that are due at an instant, ms, or later.
func (s *Service) PendingFrom(fromMs int64) iter.Seq[Pending] {
	return func(yield func(Pending) bool) {
		if s.opts.Enabled {
			s.mu.Lock()
			s.catchUp(s.opts.Store.NowMillis(), nil)
			s.mu.Unlock()
		}
		from := slotOf(fromMs)
		a, b := cursor{s: s, l: s.lines[0], from: from}, cursor{s: s, l: s.lines[1], from: from}
		for {
			p, q := a.peek(), b.peek()
			first := &a
			if p == nil || q != nil && q.Due < p.Due {
				p, first = q, &b
			}
			if p == nil {
				return
			}
			first.page = first.page[1:]
			if p.Due >= fromMs && !yield(*p) {
				return
			}
		}
	}
}

// Read returns a pending message as it will be in its topic, but for where it will lie there:
// CommitLogOffset and StoreTimestamp are of where it waits.
func (s *Service) Read(p Pending) (rec message.Record, err error) {
	err = s.withRecord(p.CommitLogOffset, p.Size, p.record, func(v *message.View) error {
		rec, err = redeliver.Real(v, p.CommitLogOffset)
		return err
	})
	return rec, err
}

// cursor goes through what pends on a line.
type cursor struct {
	s    *Service
	l    *line
	from int64 // seconds below were given
	page []Pending
	far  *Pending // the last one looked at of what is not sorted; nil: none yet
	end  bool
}

// peek is the next message, nil when there is none.
func (c *cursor) peek() *Pending {
	for len(c.page) == 0 && !c.end {
		c.s.mu.Lock()
		c.fill()
		c.s.mu.Unlock()
	}
	if len(c.page) == 0 {
		return nil
	}
	return &c.page[0]
}

// fill takes the next second that has something, or what is not sorted after those.
func (c *cursor) fill() {
	if c.far != nil {
		c.fillFar()
		return
	}
	number, ok := c.l.t.NextFrom(max(c.from, c.l.t.Hand()))
	for _, sec := range c.l.loaded {
		if sec.number >= c.from && (!ok || sec.number <= number) {
			c.from = sec.number + 1
			c.fillLoaded(sec)
			return
		}
	}
	if !ok {
		c.end = true
		return
	}
	r, err := c.l.t.Read(number)
	if err != nil {
		c.from = number
		c.far = &Pending{second: number - 1}
		c.fillFar()
		return
	}
	defer r.Close()
	sec := newSecond(number)
	for item, ok := r.Next(); ok; item, ok = r.Next() {
		c.s.take(sec, &item)
	}
	c.s.superseding.hide(sec, c.l.wall)
	c.from = number + 1
	c.fillLoaded(sec)
}

// fillLoaded takes what pends of a second in memory.
func (c *cursor) fillLoaded(sec *second) {
	pending := make([]int32, 0, sec.left+sec.held)
	if sec.chains != nil {
		for _, i := range sec.chains.head {
			for ; i != noEntry; i = sec.entries[i].next {
				pending = append(pending, i)
			}
		}
	}
	for _, t := range c.s.held.order {
		for _, h := range t.entries {
			if h.sec == sec {
				pending = append(pending, h.i)
			}
		}
	}
	for _, i := range pending {
		c.add(sec, &sec.entries[i])
	}
	slices.SortFunc(c.page, compareDue)
}

// add takes a message unless it is cancelled or was delivered.
func (c *cursor) add(sec *second, e *entry) {
	if c.s.known.has(e.logOffset) {
		return
	}
	removed := false
	if sec.hasCancels() {
		_ = c.s.withRecord(e.logOffset, e.size, e.bytes(), func(v *message.View) error {
			removed = c.s.isCancelled(sec, e, v)
			return nil
		})
	}
	if removed {
		return
	}
	p := Pending{Due: sec.dueOf(e), Wall: c.l.wall, CommitLogOffset: e.logOffset, Size: e.size, second: sec.number}
	if kept := e.bytes(); kept != nil {
		p.record = slices.Clone(kept)
	}
	c.page = append(c.page, p)
}
