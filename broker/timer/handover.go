package timer

import (
	"fmt"
	"sync"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
	"github.com/wheelmq/wheelmq/store/timer/rocketmq"
)

// handover is what a Service does about the real broker, which may have had the store before and
// may have it again. One of the two has what pends, and its files say so: while it is this server,
// the real broker's wheel is blocked.
type handover struct {
	blocked bool       // the real broker is kept out
	busy    bool       // somebody is taking over and has let go of the lock for a moment
	done    *sync.Cond // of Service.mu: nobody is any more
	// pending is what the real broker left, until all of it is taken in; nil: nothing is to be.
	pending *rocketmq.Pending
	taken   int64 // of its records
	// readMs is the first slot, ms, of the real broker's wheel that it had not read when it left the
	// store; 0: it never was here.
	readMs int64
}

// delivered tells whether a record of the timer queue is one that the real broker accepted and
// delivered.
func (h *handover) delivered(props []byte) bool {
	if _, own := message.DueOf(props); own || h.readMs == 0 {
		return false
	}
	out, ok := message.TimerOutOf(props)
	return ok && out < h.readMs
}

// takeOver finds out who has what pends. When it is the real broker, this service's own files are of
// an earlier time and go; what is to be taken over is in s.handover.pending.
func (s *Service) takeOver(c *checkpoint) (own *checkpoint, err error) {
	h := &s.handover
	if h.blocked, err = rocketmq.Blocked(s.opts.FS); err != nil {
		return nil, fmt.Errorf("timer: %w", err)
	}
	left, ok, err := rocketmq.ReadCheckpoint(s.opts.FS)
	if err != nil {
		return nil, fmt.Errorf("timer: %w", err)
	}
	if ok && !left.Ours() {
		h.readMs = left.ReadMs
	}
	if h.blocked || !s.opts.Enabled || c != nil && c.pending() {
		return c, nil
	}
	p, ok, err := rocketmq.Find(s.opts.FS, timerRecords{s})
	if err != nil || !ok {
		return c, err
	}
	if err := s.opts.FS.Remove(dir); err != nil {
		return nil, fmt.Errorf("timer: %w", err)
	}
	h.pending = p
	return nil, nil
}

// pending tells whether messages or cancels wait by a checkpoint.
func (c *checkpoint) pending() bool {
	for _, n := range c.topics {
		if n > 0 {
			return true
		}
	}
	return false
}

// inherit prepares for what the real broker left: it has made all copies, and the queue is read on
// from where it was.
func (s *Service) inherit() (copiesFrom int64) {
	p := s.handover.pending
	s.queueOffset = p.Resume()
	if err := p.Damage(); err != nil {
		s.opts.Logger.WithError(err).Error("timers of RocketMQ are taken from the timer queue: what was due since the slot that it read last may come again")
	}
	return s.opts.Log.MaxCommitLogOffset()
}

// own makes what pends this server's, before the first of it is taken out of the queue or
// delivered: what the real broker left is taken in, a checkpoint is durable, and then the real
// broker's wheel is blocked. false: it is not done, or there is nothing to take. The caller holds mu.
func (s *Service) own(now int64) bool {
	h := &s.handover
	for h.busy {
		h.done.Wait()
	}
	if h.blocked {
		return true
	}
	if now < s.taking.retryAt {
		return false
	}
	h.busy = true
	err := s.block()
	h.busy = false
	h.done.Broadcast()
	if err != nil {
		s.refuseTaking(now, err)
	}
	return h.blocked
}

func (s *Service) block() error {
	h := &s.handover
	if err := s.takeInherited(); err != nil {
		return err
	}
	if h.taken == 0 && s.untaken() == 0 {
		return nil // the real broker may have the store
	}
	s.mu.Unlock()
	err := s.saver.save(false)
	if err == nil {
		err = rocketmq.Block(s.opts.FS)
	}
	s.mu.Lock()
	if err != nil {
		return fmt.Errorf("timer: keep the real broker out: %w", err)
	}
	h.blocked = true
	return nil
}

// takeInherited takes in what the real broker left. After an error it goes on where it was.
func (s *Service) takeInherited() error {
	h := &s.handover
	if h.pending == nil {
		return nil
	}
	seen := int64(0)
	err := h.pending.Each(func(r rocketmq.Reference) error {
		if seen++; seen <= h.taken {
			return nil
		}
		if err := s.takeOne(&store.Unit{CommitLogOffset: r.CommitLogOffset, Size: r.Size}, s.opts.Store.NowMillis()); err != nil {
			return err
		}
		h.taken++
		if s.progress++; h.taken%enqueueBatch == 0 {
			s.mu.Unlock()
			//nolint:staticcheck // whoever waits gets its turn
			s.mu.Lock()
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("timer: take over the timers of RocketMQ: %w", err)
	}
	if h.taken > 0 {
		if s.opts.Differences != nil {
			s.opts.Differences.Use(difference.TimersTakenOver)
		}
		s.opts.Logger.WithFields(logrus.Fields{"records": h.taken, "queueOffset": h.pending.Resume()}).Info("timers of RocketMQ are taken over")
	}
	h.pending = nil
	return nil
}

// inherits tells that what the real broker left is not this server's yet.
func (h *handover) inherits() bool { return h.pending != nil || h.taken > 0 && !h.blocked }

// incomplete tells that a checkpoint would miss what the real broker left.
func (s *Service) incomplete() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.handover.pending != nil
}

// handBack lets the real broker have the store when nothing pends in it. The caller has closed the
// lines and saved.
func (s *Service) handBack() error {
	if err := rocketmq.Release(s.opts.FS, clock.WallMillis(s.opts.Store), s.queueOffset); err != nil {
		return fmt.Errorf("timer: let the real broker have the store: %w", err)
	}
	s.handover.blocked = false
	// What is done is named in there still. It would be met again by whoever opens the store next.
	if err := s.opts.FS.Remove(dir); err != nil {
		return fmt.Errorf("timer: %w", err)
	}
	return nil
}

// nothingPends tells whether everything was delivered that ever waited, and no cancel waits for its
// message.
func (s *Service) nothingPends() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.handover.blocked || s.handover.inherits() || s.topics.total() > 0 || s.untaken() > 0 || s.inFlight > 0 || s.queueOffset < s.rebuildTo {
		return false
	}
	for _, l := range s.lines {
		stats := l.t.Stats()
		left := stats.Pending()
		for _, sec := range l.loaded {
			if !sec.finished() {
				return false
			}
			if sec.number < s.nowOf(l, s.opts.Store.NowMillis())/1000 || !sec.hasCancels() {
				left -= l.t.Count(sec.number)
			}
		}
		if left > 0 {
			return false
		}
	}
	return true
}

// timerRecords are the records of the timer topic.
type timerRecords struct{ s *Service }

func (r timerRecords) TimerUnits() (from, to int64) {
	if q := r.s.opts.Log.Queue(topicTimer, 0); q != nil {
		return q.Min(), q.Max()
	}
	return 0, 0
}

func (r timerRecords) TimerUnit(queueOffset int64) (rocketmq.Reference, error) {
	var u [1]store.Unit
	n, err := r.s.opts.Log.Queue(topicTimer, 0).Units(queueOffset, u[:])
	if err == nil && n == 0 {
		err = fmt.Errorf("timer: the timer queue has no unit %d", queueOffset)
	}
	return rocketmq.Reference{CommitLogOffset: u[0].CommitLogOffset, Size: u[0].Size}, err
}

func (r timerRecords) Properties(ref rocketmq.Reference, use func([]byte) error) error {
	var used bool
	var failed error
	err := r.s.withRecord(ref.CommitLogOffset, ref.Size, nil, func(v *message.View) error {
		used, failed = true, use(v.Properties)
		return nil
	})
	if !used && err != nil {
		return r.s.lost(ref.CommitLogOffset, err)
	}
	return failed
}
