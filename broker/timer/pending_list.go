package timer

import (
	"iter"
	"runtime/debug"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/clock"
)

// lister looks at what pends while it goes on being delivered: a page at a time under the lock, or in
// files without it.
type lister struct {
	state   *state
	records *records
	intake  *intake
	held    *heldTopics
	looks   *looks
	clock   clock.Clock // of messages
	logger  logrus.FieldLogger
	enabled bool // timerWheelEnable
}

// Listing goes through what pends.
type Listing struct {
	of     *lister
	fromMs int64
	limit  int // messages of a page
	unread int64
}

// List is a Listing of what is due at an instant, ms, or later.
func (s *Service) List(fromMs int64) *Listing {
	return &Listing{of: &s.lister, fromMs: fromMs, limit: pageMessages}
}

// Unread is how many records All has met so far that cannot be read: messages that may be missing
// from the list, or what may remove some that are in it. They are logged.
func (l *Listing) Unread() int64 { return l.unread }

// All is like Service.Pending.
func (l *Listing) All() iter.Seq[Pending] {
	return func(yield func(Pending) bool) {
		r := l.of
		if r.enabled {
			r.intake.enqueue(r.clock.NowMillis())
		}
		from := slotOf(l.fromMs)
		a, b := newCursor(l, r.state.lines[0], from), newCursor(l, r.state.lines[1], from)
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
			if p.Due >= l.fromMs && !yield(*p) {
				return
			}
		}
	}
}

// cursor goes through what pends on a line.
type cursor struct {
	r     *lister
	l     *line
	of    *Listing
	from  int64 // seconds below were given
	after Pending
	page  []Pending
	end   bool
}

func newCursor(of *Listing, l *line, from int64) cursor {
	return cursor{r: of.of, l: l, of: of, from: from}
}

// peek is the next message, nil when there is none.
func (c *cursor) peek() *Pending {
	for len(c.page) == 0 && !c.end {
		c.fill()
	}
	if len(c.page) == 0 {
		return nil
	}
	return &c.page[0]
}

// fill takes the next page.
func (c *cursor) fill() {
	debug.SetPanicOnFault(true)
	mu := &c.r.state.mu
	mu.Lock()
	var p *page
	if !c.r.state.closed {
		p = c.r.newPage(c.l, c.from, c.after, c.of.limit)
	}
	if p == nil {
		mu.Unlock()
		c.end = true
		return
	}
	c.r.looks.reading.Add(1)
	mu.Unlock()
	p.read()
	mu.Lock()
	p.end()
	c.r.looks.reading.Done()
	mu.Unlock()
	c.take(p)
	c.of.unread += p.unread
}

// take goes on behind a page.
func (c *cursor) take(p *page) {
	c.page = p.left()
	if p.full {
		c.from, c.after = p.last.second, p.last
	} else {
		c.from = p.to
	}
}
