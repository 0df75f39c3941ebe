package timer

import (
	"fmt"
	"math"
	"slices"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
	wheel "github.com/wheelmq/wheelmq/store/timer"
)

const (
	// pageMessages is how many messages a cursor has at a time, at most: of what is not sorted each
	// page is a look through an hour's or a day's files.
	pageMessages = 1 << 16
	// pageBytes bounds the records that are kept meanwhile; there are fewer then.
	pageBytes = 32 << 20
)

// page are the first messages of a stretch of seconds that come after one, and what may remove them.
// newPage and end hold the lock, read does not.
type page struct {
	of       *lister
	line     *line
	from, to int64 // the stretch, seconds [from, to)
	browser  *wheel.Browser
	known    sources

	after Pending
	limit int
	list  []Pending
	bytes int     // of the records in list
	full  bool    // more of the stretch lie behind last
	last  Pending // of list, when it is full

	cancels map[int64]map[string]struct{} // the keys that are removed, by second
	refs    map[int64]int64               // the seconds of messages that are removed one by one, by their log offsets
	// removals are cancels of a second in memory, to be read.
	removals []wheel.Item
	// missed are how many removals of a second cannot be read; unread counts those of the seconds that
	// have messages, and damaged messages.
	missed map[int64]int64
	unread int64
}

// topicKey is a key of a topic.
func topicKey(realTopic, key []byte) string { return string(realTopic) + "\x00" + string(key) }

// newPage starts to look at the first stretch of a line from a second on that has something, for at
// most limit messages that come after one; nil: nothing pends there. The caller holds the lock.
func (r *lister) newPage(l *line, from int64, after Pending, limit int) *page {
	p := &page{
		of: r, line: l, after: after, limit: limit, known: r.state.known,
		cancels: make(map[int64]map[string]struct{}), refs: make(map[int64]int64), missed: make(map[int64]int64),
	}
	from = max(from, l.t.Hand())
	var loaded *second
	before := int64(math.MaxInt64)
	if i := l.place(from); i < len(l.loaded) {
		loaded = l.loaded[i]
		before = loaded.number
	}
	if p.browser = l.t.Browse(from, before); p.browser != nil {
		p.from, p.to = p.browser.From, p.browser.To
		for offset, id := range r.state.superseding {
			if id.Wall == l.wall && id.Second >= p.from && id.Second < p.to {
				p.refs[offset] = id.Second
			}
		}
		return p
	}
	if loaded == nil {
		return nil
	}
	p.from, p.to = before, before+1
	p.takeLoaded(loaded)
	return p
}

// takeLoaded takes what waits of a second in memory.
func (p *page) takeLoaded(sec *second) {
	defer p.catchFault()
	p.of.held.of(sec, func(e *entry) { p.takeEntry(sec, e) })
	if sec.chains != nil {
		b := 0
		if p.after.second == sec.number {
			b = min(max(int(p.after.Due-sec.beginMs()), 0), buckets-1)
		}
		for ; b < buckets && !p.full; b++ {
			for i := sec.chains.head[b]; i != noEntry; i = sec.entries[i].next {
				p.takeEntry(sec, &sec.entries[i])
			}
			// What waits for a target that refuses is due before the rest, or was looked at.
			if len(p.list) > p.limit {
				p.trim()
			}
		}
	}
	for _, i := range sec.cancels {
		for ; i != noEntry; i = sec.entries[i].next {
			e := &sec.entries[i]
			p.removals = append(p.removals, wheel.Item{
				Entry: wheel.Entry{LogOffset: e.logOffset, Size: e.size, Flags: wheel.Cancel}, Record: slices.Clone(e.bytes()),
			})
		}
	}
}

func (p *page) takeEntry(sec *second, e *entry) {
	if sec.removedByRef(e) {
		return
	}
	p.add(Pending{Due: sec.dueOf(e), Wall: p.line.wall, CommitLogOffset: e.logOffset, Size: e.size, second: sec.number}, e.bytes())
}

// read goes through the stretch. It needs no lock.
func (p *page) read() {
	defer p.catchFault()
	if p.browser == nil {
		for i := range p.removals {
			p.addCancel(p.from, &p.removals[i])
		}
		return
	}
	for n := 0; ; n++ {
		number, item, ok := p.browser.Next()
		if !ok || n&1023 == 0 && p.of.looks.ctx.Err() != nil {
			break
		}
		p.take(number, &item)
	}
	p.unread += p.browser.Lost()
	if err := p.browser.Err(); err != nil {
		p.fail(err)
	}
}

// take takes in an entry of the files.
func (p *page) take(number int64, item *wheel.Item) {
	switch {
	case p.full && number > p.last.second:
	case item.Flags&wheel.Cancel != 0:
		p.addCancel(number, item)
	case item.Flags&wheel.CancelRef != 0:
		removes, err := p.of.records.refOf(item)
		if err != nil {
			p.miss(number, item.LogOffset, err)
			return
		}
		p.refs[removes] = number
	default:
		p.add(Pending{Due: item.Due, Wall: p.line.wall, CommitLogOffset: item.LogOffset, Size: item.Size, second: number}, item.Record)
	}
}

func (p *page) addCancel(number int64, item *wheel.Item) {
	err := p.of.records.withRecord(item.LogOffset, item.Size, item.Record, func(v *message.View) error {
		r, reason := readPending(v, p.of.records.precisionMs)
		if r.cancels == nil {
			return fmt.Errorf("timer: the record is no cancel: %s", reason)
		}
		keys := p.cancels[number]
		if keys == nil {
			keys = make(map[string]struct{})
			p.cancels[number] = keys
		}
		keys[topicKey(r.realTopic, r.cancels)] = struct{}{}
		return nil
	})
	if err != nil {
		p.miss(number, item.LogOffset, err)
	}
}

// end lets go of the files, and looks in the log for what damage has taken. The caller holds the lock.
func (p *page) end() {
	if p.browser == nil {
		return
	}
	for _, m := range p.browser.Missing() {
		sec := newSecond(m.Second)
		p.of.records.eachQueued(m.From, m.To, p.of.state.queueOffset, func(item *wheel.Item, r *pendingRecord) bool {
			if p.of.state.belongs(p.line, sec, r) {
				p.take(m.Second, item)
			}
			return true
		})
	}
	p.browser.Close()
}

// add takes in a message that comes after the one that was asked for.
func (p *page) add(m Pending, record []byte) {
	if compareDue(m, p.after) <= 0 || p.full && compareDue(m, p.last) > 0 || p.known.has(m.CommitLogOffset) {
		return
	}
	m.record = slices.Clone(record)
	p.list = append(p.list, m)
	p.bytes += len(record)
	if p.bytes > pageBytes {
		p.limit = min(p.limit, max(1, len(p.list)/2))
	}
	if len(p.list) >= 2*p.limit {
		p.trim()
	}
}

// trim keeps the first messages, and what may remove them.
func (p *page) trim() {
	slices.SortFunc(p.list, compareDue)
	if len(p.list) <= p.limit {
		return
	}
	for i := range p.list[p.limit:] {
		p.bytes -= len(p.list[p.limit+i].record)
	}
	clear(p.list[p.limit:])
	p.list = p.list[:p.limit]
	p.full, p.last = true, p.list[p.limit-1]
	p.last.record = nil
	for second := range p.cancels {
		if second > p.last.second {
			delete(p.cancels, second)
		}
	}
	for offset, second := range p.refs {
		if second > p.last.second {
			delete(p.refs, offset)
		}
	}
}

// left are the messages that nothing removes, in order.
func (p *page) left() (list []Pending) {
	p.trim()
	for i, m := range p.list {
		if i > 0 && compareDue(p.list[i-1], m) == 0 {
			continue // it was looked for in the log, and was not missing
		}
		if i == 0 || p.list[i-1].second != m.second {
			p.unread += p.missed[m.second]
		}
		if _, gone := p.refs[m.CommitLogOffset]; !gone && !p.cancelled(&m) {
			list = append(list, m)
		}
	}
	return list
}

// cancelled tells whether a cancel has the key of a message. One that cannot be read stays.
func (p *page) cancelled(m *Pending) (gone bool) {
	keys := p.cancels[m.second]
	if len(keys) == 0 {
		return false
	}
	err := p.of.records.withRecord(m.CommitLogOffset, m.Size, m.record, func(v *message.View) error {
		if key, ok := message.PropertyGet(v.Properties, message.PropertyUniqKey); ok {
			realTopic, _ := message.PropertyGet(v.Properties, message.PropertyRealTopic)
			_, gone = keys[topicKey(realTopic, key)]
		}
		return nil
	})
	if err != nil {
		p.of.records.unread(m.CommitLogOffset, err)
	}
	return gone
}

// miss counts a record that may remove something.
func (p *page) miss(number, commitLogOffset int64, err error) {
	p.missed[number]++
	p.of.records.unread(commitLogOffset, err)
}

// catchFault is deferred by who looks at files that are mapped.
func (p *page) catchFault() {
	if fault := recover(); fault != nil {
		p.unread++
		p.fail(store.FaultOf(fault))
	}
}

// fail tells that not all can be looked at.
func (p *page) fail(err error) {
	p.of.logger.WithError(err).WithFields(logrus.Fields{"line": p.line.name, "from": p.from, "to": p.to}).
		Error("not all timers that pend can be looked at")
}
