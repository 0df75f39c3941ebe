package timer

import (
	"sort"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
	wheel "github.com/wheelmq/wheelmq/store/timer"
)

// repairLoaded looks in the log for the near entries of what was read whose files are damaged.
func (s *Service) repairLoaded(l *line, g *loading) {
	switch {
	case g.reader != nil && g.reader.Err() != nil:
		from, to, near := g.reader.Missing()
		found := 0
		if near {
			found = s.repair(l, g.seconds[0], from, to)
		}
		s.tellDamage(l, g.from, found, g.reader.Err())
		if hole := g.reader.Hole(); hole.Count > 0 {
			s.repairSorted(l, g.seconds[0], hole)
		}
	case g.browser != nil && g.browser.Err() != nil:
		found := 0
		for _, m := range g.browser.Missing() {
			if sec := g.second(m.Second); sec != nil {
				found += s.repair(l, sec, m.From, m.To)
			}
		}
		s.tellDamage(l, g.from, found, g.browser.Err())
	}
}

func (s *Service) tellDamage(l *line, number int64, found int, damage error) {
	s.damaged++
	s.opts.Logger.WithError(damage).WithFields(logrus.Fields{"line": l.name, "second": number, "inTheLog": found}).
		Error("files of pending timer messages are damaged: what is near is looked up in the log")
}

// repair looks in the log from from to to for near entries of a second, and returns how many it found.
func (s *Service) repair(l *line, sec *second, from, to int64) (found int) {
	have := make(map[int64]bool, len(sec.entries))
	for i := range sec.entries {
		have[sec.entries[i].logOffset] = true
	}
	s.eachQueued(from, to, s.queueOffset, func(item *wheel.Item, p *pendingRecord) bool {
		if !have[item.LogOffset] && s.belongs(l, sec, p) {
			s.take(sec, item)
			found++
		}
		return true
	})
	return found
}

// belongs tells whether a record is kept in a second of a line.
func (s *Service) belongs(l *line, sec *second, p *pendingRecord) bool {
	if p.supersedes != nil {
		return s.lineOf(message.Due{Wall: p.supersedes.Wall}) == l && p.supersedes.Second == sec.number
	}
	if p.cancels != nil {
		return p.names(sec.number, s.opts.PrecisionMs) || s.moved.may(p, sec.number, l.wall)
	}
	return s.lineOf(p.due) == l && slotOf(p.due.Ms) == sec.number
}

// eachQueued visits the records of the timer queue that lie in [from, to) of the log, before a unit of
// the queue, and can be read, while visit wants more.
func (s *Service) eachQueued(from, to, before int64, visit func(item *wheel.Item, p *pendingRecord) (more bool)) {
	q := s.opts.Log.Queue(topicTimer, 0)
	if q == nil {
		return
	}
	at, end := q.Min(), min(q.Max(), before)
	at += int64(sort.Search(int(max(0, end-at)), func(i int) bool {
		u, ok := q.Unit(at + int64(i))
		return ok && u.CommitLogOffset >= from
	}))
	for ; at < end; at++ {
		u, ok := q.Unit(at)
		if !ok || u.CommitLogOffset >= to || !s.visitQueued(&u, visit) {
			return
		}
	}
}

func (s *Service) visitQueued(u *store.Unit, visit func(item *wheel.Item, p *pendingRecord) (more bool)) (more bool) {
	more = true
	err := s.withRecord(u.CommitLogOffset, u.Size, nil, func(v *message.View) error {
		p, reason := readPending(v, s.opts.PrecisionMs)
		if reason != "" {
			return nil // it was parked when it was taken out of the queue
		}
		item := wheel.Item{Entry: wheel.Entry{Due: p.due.Ms, LogOffset: u.CommitLogOffset, Size: u.Size}}
		if sup := p.supersedes; sup != nil {
			ref := item
			ref.Flags, ref.LogOffset = wheel.CancelRef, item.LogOffset+refOffset
			if more = visit(&ref, &p); sup.Generation == 0 || !more {
				return nil
			}
			p.supersedes = nil
		}
		if p.cancels != nil {
			item.Flags = wheel.Cancel
		}
		more = visit(&item, &p)
		return nil
	})
	if err != nil {
		s.unread(u.CommitLogOffset, err)
	}
	return more
}
