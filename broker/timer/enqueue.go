package timer

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
	wheel "github.com/wheelmq/wheelmq/store/timer"
)

// enqueueBatch is how many records are taken in before others may look at the service.
const enqueueBatch = 256

// enqueue takes what is in the timer queue into the Timelines. What comes meanwhile is for the next
// pass. It returns how many records it took in.
func (s *Service) enqueue(now int64) (taken int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.catchUp(now, func() {
		s.mu.Unlock()
		//nolint:staticcheck // whoever waits gets its turn
		s.mu.Lock()
	})
}

// catchUp is enqueue for one who holds mu; between is called after each batch.
func (s *Service) catchUp(now int64, between func()) (taken int) {
	q := s.opts.Log.Queue(topicTimer, 0)
	if now < s.taking.retryAt || !s.own(now) || q == nil {
		return 0
	}
	s.fit(q)
	taken = s.retryAside(now)
	for end := q.Max(); s.queueOffset < end; {
		n, err := s.takeBatch(q, end, now)
		taken += n
		if err != nil {
			s.refuseTaking(now, err)
			return taken
		}
		if n == 0 {
			return taken // the queue's beginning was deleted meanwhile
		}
		if between != nil {
			between()
		}
	}
	s.taking.ended()
	return taken
}

func (s *Service) refuseTaking(now int64, err error) {
	s.taking.refused(now, err)
	s.opts.Logger.WithError(err).WithField("refusals", s.taking.refusals).
		Log(s.taking.level(), "pending timer messages cannot be taken in and wait")
}

// fit corrects a place that the queue does not have: data was deleted under it.
func (s *Service) fit(q *store.ConsumeQueue) {
	lowest, highest := q.Min(), q.Max()
	if s.queueOffset >= lowest && s.queueOffset <= highest {
		return
	}
	s.opts.Logger.WithFields(logrus.Fields{"offset": s.queueOffset, "min": lowest, "max": highest}).
		Warn("the timer queue does not have the place that was reached: going on where it begins or ends")
	s.queueOffset = min(max(s.queueOffset, lowest), highest)
	s.progress++
}

func (s *Service) takeBatch(q *store.ConsumeQueue, end, now int64) (taken int, err error) {
	w := &s.worker
	room := min(end-s.queueOffset, enqueueBatch)
	n, err := q.Units(s.queueOffset, w.units[:room])
	if err != nil {
		return 0, err
	}
	for ; taken < n; taken++ {
		if err := s.takeOne(&w.units[taken], now); err != nil && !s.setAside(&w.units[taken], now, err) {
			return taken, err
		}
		s.queueOffset++
		s.progress++
	}
	return taken, nil
}

// takeOne takes in one record. A nil error means that it is done with here.
func (s *Service) takeOne(u *store.Unit, now int64) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = s.lost(u.CommitLogOffset, faultOf(p))
		}
	}()
	slice, err := s.opts.Log.Record(u.CommitLogOffset, u.Size)
	if err != nil {
		return s.lost(u.CommitLogOffset, err)
	}
	defer slice.Release()
	v, err := message.Parse(slice.Bytes)
	if err != nil {
		return s.lost(u.CommitLogOffset, err)
	}
	if s.queueOffset < s.rebuildTo && s.handover.delivered(v.Properties) {
		return nil
	}
	p, reason := readPending(&v, s.opts.PrecisionMs)
	if reason != "" {
		return s.poison(&v, u.CommitLogOffset, reason)
	}
	item := wheel.Item{Record: slice.Bytes}
	item.LogOffset, item.Size = u.CommitLogOffset, u.Size
	switch {
	case p.supersedes != nil:
		return holdsUp(s.takeSuperseding(&v, &p, &item, now))
	case p.cancels != nil:
		return s.takeCancel(&p, &item)
	}
	return s.takeMessage(&v, &p, &item, now)
}

// takeMessage takes in a message, unless it was delivered already.
func (s *Service) takeMessage(v *message.View, p *pendingRecord, item *wheel.Item, now int64) error {
	if s.known.has(item.LogOffset) {
		return nil
	}
	item.Due = p.due.Ms
	if err := s.keep(s.lineOf(p.due), slotOf(p.due.Ms), item); err != nil {
		if errors.Is(err, wheel.ErrInvalid) {
			return s.poison(v, item.LogOffset, err.Error())
		}
		return err
	}
	s.topics.add(p.realTopic, now)
	s.topics.last.took(p.due.Ms - now)
	return nil
}

// lineOf is the line of an instant. A virtual clock has no wall of its own.
func (s *Service) lineOf(due message.Due) *line {
	if due.Wall {
		return s.lines[absoluteLine]
	}
	return s.lines[delayLine]
}

// keep adds a message to a line, and to the second in memory that it belongs to, if there is one.
func (s *Service) keep(l *line, slot int64, item *wheel.Item) error {
	slot = max(slot, l.t.Hand())
	if err := s.add(l, slot, item); err != nil {
		return err
	}
	switch sec := l.live(slot); {
	case sec == nil:
	case sec.loading:
		sec.later = append(sec.later, late(item.Entry, sec))
	default:
		sec.add(&wheel.Item{Entry: late(item.Entry, sec)})
		s.loaded++
	}
	return nil
}

// late makes an instant that lies before a second's begin one of the second.
func late(e wheel.Entry, sec *second) wheel.Entry {
	e.Due = max(e.Due, sec.beginMs()-lateMs)
	return e
}

// takeCancel adds a cancel wherever its message may be: either clock may decide it.
func (s *Service) takeCancel(p *pendingRecord, item *wheel.Item) error {
	item.Flags = wheel.Cancel
	hash := keyHash(p.realTopic, p.cancels)
	for _, l := range s.lines {
		for slot := p.out / 1000; slot <= (p.out+s.opts.PrecisionMs-1)/1000; slot++ {
			if err := s.addCancel(l, slot, item, hash); err != nil {
				return err
			}
		}
	}
	return s.followMoved(p, item, hash)
}

// addCancel adds a cancel to a second, unless that is done.
func (s *Service) addCancel(l *line, slot int64, item *wheel.Item, hash uint64) error {
	if slot < l.t.Hand() {
		return nil
	}
	item.Due = slot*1000 + 1
	if err := s.add(l, slot, item); err != nil {
		return err
	}
	if sec := l.live(slot); sec != nil {
		sec.addCancel(&wheel.Item{Entry: item.Entry}, hash)
	}
	s.meanwhile(l, slot, func(sec *second) { sec.addCancel(&wheel.Item{Entry: item.Entry}, hash) })
	return nil
}

// lost notes a pending record that cannot be read. It cannot be parked, having no content; it is
// counted and stops nobody. Of many, fewer and fewer are named.
func (s *Service) lost(commitLogOffset int64, err error) error {
	if n := s.unreadable.Add(1); n&(n-1) == 0 {
		s.opts.Logger.WithError(err).WithFields(logrus.Fields{"commitLogOffset": commitLogOffset, "messages": n}).
			Error("a pending timer message cannot be read and is lost")
	}
	return nil
}

// poison parks a record of the timer queue that cannot be delivered at any time.
func (s *Service) poison(v *message.View, commitLogOffset int64, reason string) error {
	if s.known.has(commitLogOffset) {
		return nil
	}
	s.worker.copy.Make(v, commitLogOffset)
	if s.worker.copy.Record.QueueID < 0 {
		s.worker.copy.Record.QueueID = 0
	}
	reason = "a record of the timer queue cannot be delivered: " + strings.TrimPrefix(reason, "timer: ")
	if err := s.opts.Park.Park(&s.worker.copy.Record, "timer", reason); err != nil {
		return fmt.Errorf("timer: %w", err)
	}
	s.parked.Add(1)
	return nil
}

// faultOf is the error that a recovered panic stands for; any but the fault of a mapped file goes on.
func faultOf(p any) error {
	fault, ok := store.Fault(p)
	if !ok {
		panic(p)
	}
	return fault
}
