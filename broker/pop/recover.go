package pop

import (
	"fmt"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker/offset"
	"github.com/wheelmq/wheelmq/broker/pop/journal"
)

// recovery is what is found out at the start.
type recovery struct {
	s        *Service
	logEnd   int64
	void     []revivedAt // copies that a power cut took
	unread   int         // records
	missing  int64       // messages that were handed out in what cannot be read of the journal
	suspects []suspect
	begun    []suspect // what lies before the first pop that is told of, of windows of which nothing else is
}

// revivedAt is a message in flight whose copy is not in the log.
type revivedAt struct {
	w      *Window
	offset int64
}

// suspect is a stretch of a queue that a pop has passed over.
type suspect struct {
	w        *Window
	from, to int64
}

// recover finds out what is in flight: from the journal, from the consumer offsets, from the queues'
// ends, and from the copies in the log that the journal does not tell of.
func (s *Service) recover() error {
	r := recovery{s: s, logEnd: s.opts.Log.MaxCommitLogOffset()}
	found, err := s.journal.Replay(r.apply)
	if err != nil {
		return err
	}
	if found.Damage.Any() || r.unread > 0 {
		r.damaged(&found.Damage)
	}
	for _, w := range s.all() {
		if err := r.settle(w, found.Ended, found.Damage.Any()); err != nil {
			return err
		}
	}
	if err := r.restate(); err != nil {
		return err
	}
	if s.inFlight.Load() > 0 && found.Note >= 0 {
		if err := r.recognise(found.Note); err != nil {
			return err
		}
	}
	if err := s.takeOverOrder(); err != nil {
		return err
	}
	s.plan()
	return nil
}

// damaged tells what is damaged, and takes what was handed out there for being in flight.
func (r *recovery) damaged(d *journal.Damage) {
	now := r.s.opts.Store.NowMillis()
	for _, p := range r.suspects {
		for at := p.from; at < p.to; at++ {
			if p.w.held.find(at) == nil {
				p.w.held.set(at, entry{popTime: now, due: now})
				r.s.inFlight.Add(1)
				r.s.live[0].Add(1)
				r.missing++
			}
		}
	}
	r.s.damage = fmt.Sprintf("the pop journal was damaged: %d places of %d bytes, %d files and %d records could not be read; %d messages are delivered again",
		d.Places, d.Bytes, d.Files, r.unread, r.missing)
	if n := r.unknown(); n > 0 {
		r.s.damage += fmt.Sprintf("; of %d queues it is not known what was in flight before: it is not", n)
	}
	r.s.opts.Logger.Error(r.s.damage)
}

// unknown tells of the queues whose pops before the first one that can be read are lost, and returns how many
// there are. Where those began is not known either: to hand out all of a queue again is no answer to that.
func (r *recovery) unknown() (queues int) {
	for _, p := range r.begun {
		low := int64(0)
		if q := r.s.opts.Log.Queue(p.w.topic, p.w.key.QueueID); q != nil {
			low = q.Min()
		}
		if p.w.gone || p.to <= max(p.from, low) {
			continue
		}
		queues++
		r.s.opts.Logger.WithFields(logrus.Fields{"group": p.w.key.Group, "topic": p.w.key.Topic, "queueId": p.w.key.QueueID, "before": p.to}).
			Error("what was in flight of a queue before this offset cannot be read: it is not delivered again")
	}
	return queues
}

// apply takes over what a record says.
func (r *recovery) apply(file uint32, kind byte, payload []byte) {
	b := reader{b: payload}
	id := b.window()
	if kind == recordWindow {
		r.declared(&b, id)
		return
	}
	w := r.s.at(id)
	if w == nil || b.err != nil {
		r.unread++
		return
	}
	switch kind {
	case recordPopped:
		r.popped(w, file, &b)
	case recordHeld:
		popTime, invisible, as := b.int(), b.int(), state(b.int())
		b.offsets(0, func(offset int64) { r.hold(w, offset, entry{popTime, popTime + invisible, file, as}) })
	case recordGone:
		b.offsets(0, func(offset int64) { r.gone(w, offset) })
	case recordRevived:
		r.revived(w, &b)
	case recordCursor:
		w.cursor, w.block, w.file = b.int(), nil, file
	case recordBlock:
		r.block(w, file, &b)
	case recordDropped:
		r.dropped(w)
	}
	if b.err != nil {
		r.unread++
	}
}

func (r *recovery) declared(b *reader, id uint32) {
	k := Key{Group: b.text(), Topic: b.text(), QueueID: int32(b.int())}
	if b.err != nil || id > maxWindows {
		r.unread++
		return
	}
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if int(id) < len(r.s.byID) && r.s.byID[id] != nil {
		return
	}
	r.s.add(k, id)
}

// maxWindows bounds the numbers of windows that a record is believed.
const maxWindows = 1 << 24

func (r *recovery) popped(w *Window, file uint32, b *reader) {
	base, next, popTime, invisible := b.int(), b.int(), b.int(), b.int()
	if b.err != nil {
		return
	}
	switch {
	case w.cursor == offset.None:
		r.begun = append(r.begun, suspect{w, 0, base})
	case base > w.cursor:
		r.suspects = append(r.suspects, suspect{w, w.cursor, base})
	}
	w.cursor, w.file = next, file
	w.pass(popTime)
	b.offsets(base, func(offset int64) { r.hold(w, offset, entry{popTime, popTime + invisible, file, 0}) })
}

func (r *recovery) hold(w *Window, offset int64, e entry) {
	was := w.held.set(offset, e)
	r.s.tells(e.file, 1)
	if was.popTime == 0 {
		r.s.inFlight.Add(1)
	} else {
		r.s.tells(was.file, -1)
	}
}

func (r *recovery) gone(w *Window, offset int64) {
	if w.held.find(offset) != nil {
		w.end(offset)
	}
}

func (r *recovery) revived(w *Window, b *reader) {
	offset, popTime, copyAt := b.int(), b.int(), b.int()
	e := w.held.find(offset)
	if b.err != nil || e == nil || e.popTime != popTime {
		return
	}
	if copyAt >= r.logEnd {
		r.void = append(r.void, revivedAt{w, offset})
		return
	}
	w.end(offset)
}

func (r *recovery) block(w *Window, file uint32, b *reader) {
	cursor, popTime, attempt := b.int(), b.int(), b.text()
	msgs := make([]blocked, b.count())
	base := int64(0)
	for i := range msgs {
		base += b.int()
		msgs[i] = blocked{offset: base, due: popTime + b.int(), count: int32(b.int()), acked: b.int() == 1}
	}
	if b.err != nil {
		return
	}
	w.cursor, w.block, w.file = cursor, nil, file
	if len(msgs) > 0 {
		w.block = &block{popTime: popTime, attempt: attempt, msgs: msgs}
	}
}

func (r *recovery) dropped(w *Window) {
	w.held.each(0, never, func(_ int64, e *entry) bool {
		r.s.tells(e.file, -1)
		return true
	})
	r.s.inFlight.Add(-w.held.n)
	w.held, w.gone = held{}, true
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	delete(r.s.windows, w.key)
	r.s.byID[w.id] = nil
}

// settle brings a window in line with its queue and with the group's committed offset.
func (r *recovery) settle(w *Window, ended, damaged bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	end := int64(0)
	if q := r.s.opts.Log.Queue(w.topic, w.key.QueueID); q != nil {
		end = q.Max()
	}
	if err := r.clamp(w, end); err != nil {
		return err
	}
	committed := r.s.opts.Offsets.Query(w.group, w.topic, w.key.QueueID)
	switch {
	case w.cursor == offset.None:
		return nil
	case committed == offset.None, committed == w.cursor:
	case damaged && committed > w.cursor:
		r.s.opts.Logger.WithFields(logrus.Fields{"group": w.key.Group, "topic": w.key.Topic, "queueId": w.key.QueueID, "from": w.cursor, "to": committed}).
			Warn("messages are popped again: whether they were acknowledged cannot be read")
	case committed > w.cursor || ended:
		// Somebody else has moved it since: what is committed by a pop is in the journal before.
		w.shown = committed
		return w.move(committed)
	}
	w.shown = committed
	w.show()
	return nil
}

// clamp forgets what lies past the end of the queue: a power cut has taken it.
func (r *recovery) clamp(w *Window, end int64) error {
	var lost []int64
	w.held.each(end, never, func(at int64, _ *entry) bool {
		lost = append(lost, at)
		return true
	})
	for len(lost) > 0 {
		part := lost[:min(len(lost), maxKept)]
		if _, err := w.writeGone(part...); err != nil {
			return err
		}
		for _, at := range part {
			w.end(at)
		}
		lost = lost[len(part):]
	}
	if w.cursor > end || w.block != nil && w.block.msgs[len(w.block.msgs)-1].offset >= end {
		w.cursor, w.block = min(w.cursor, end), nil
		return w.writeCursor()
	}
	return nil
}

// restate notes anew what is in flight because its copy was lost, or by suspicion.
func (r *recovery) restate() error {
	for _, v := range r.void {
		if err := r.holdAgain(v.w, v.offset); err != nil {
			return err
		}
	}
	for _, p := range r.suspects {
		if r.missing == 0 {
			return nil
		}
		for at := p.from; at < p.to; at++ {
			if err := r.holdAgain(p.w, at); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *recovery) holdAgain(w *Window, offset int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	e := w.held.find(offset)
	if e == nil {
		return nil
	}
	one := [1]int64{offset}
	_, err := w.writeHeld(e.popTime, e.due, e.state, one[:], e.file)
	return err
}

// plan puts everything that is in flight on the agenda.
func (s *Service) plan() {
	for _, w := range s.all() {
		if w.block != nil {
			s.agenda.push(task{due: w.block.until(), window: w.id})
		}
		var last *entry
		run := task{window: w.id}
		w.held.each(0, never, func(at int64, e *entry) bool {
			if last != nil && last.due == e.due && at-run.first < 1<<30 {
				run.n = uint32(at - run.first + 1)
			} else {
				if last != nil {
					s.agenda.push(run)
				}
				run.due, run.first, run.n = e.due, at, 1
			}
			last = e
			return true
		})
		if last != nil {
			s.agenda.push(run)
		}
	}
}
