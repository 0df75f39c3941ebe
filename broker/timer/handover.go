package timer

import (
	"fmt"
	"sync"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
	"github.com/wheelmq/wheelmq/store/region"
	"github.com/wheelmq/wheelmq/store/timer/rocketmq"
)

// handover is what a Service does about the real broker, which may have had the store before and
// may have it again. One of the two has what pends, and its files say so: while it is this server,
// the real broker's wheel is blocked.
type handover struct {
	state       *state
	records     *records
	intake      *intake
	fs          region.FS
	clock       clock.Clock  // of messages
	save        func() error // saves a checkpoint, without the lock
	differences *difference.Set
	logger      logrus.FieldLogger
	enabled     bool // timerWheelEnable

	blocked bool       // the real broker is kept out
	busy    bool       // somebody is taking over and has let go of the lock for a moment
	done    *sync.Cond // of the state's lock: nobody is any more
	// pending is what the real broker left, until all of it is taken in; nil: nothing is to be.
	pending *rocketmq.Pending
	taken   int64 // of its records
}

// takeOver finds out who has what pends. When it is the real broker, this service's own files are of
// an earlier time and go; what is to be taken over is in pending.
func (h *handover) takeOver(c *checkpoint) (own *checkpoint, err error) {
	if h.blocked, err = rocketmq.Blocked(h.fs); err != nil {
		return nil, fmt.Errorf("timer: %w", err)
	}
	left, ok, err := rocketmq.ReadCheckpoint(h.fs)
	if err != nil {
		return nil, fmt.Errorf("timer: %w", err)
	}
	if ok && !left.Ours() {
		h.intake.readMs = left.ReadMs
	}
	if h.blocked || !h.enabled || c != nil && c.pending() {
		return c, nil
	}
	p, ok, err := rocketmq.Find(h.fs, timerRecords{h.records})
	if err != nil || !ok {
		return c, err
	}
	if err := h.fs.Remove(dir); err != nil {
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
func (h *handover) inherit() (copiesFrom int64) {
	p := h.pending
	h.state.queueOffset = p.Resume()
	if err := p.Damage(); err != nil {
		h.logger.WithError(err).Error("timers of RocketMQ are taken from the timer queue: what was due since the slot that it read last may come again")
	}
	return h.records.log.MaxCommitLogOffset()
}

// own makes what pends this server's, before the first of it is taken out of the queue or
// delivered: what the real broker left is taken in, a checkpoint is durable, and then the real
// broker's wheel is blocked. false: it is not done, or there is nothing to take. The caller holds the lock.
func (h *handover) own(now int64) bool {
	for h.busy {
		h.done.Wait()
	}
	if h.blocked {
		return true
	}
	if now < h.intake.wait.retryAt {
		return false
	}
	h.busy = true
	err := h.block()
	h.busy = false
	h.done.Broadcast()
	if err != nil {
		h.intake.refused(now, err)
	}
	return h.blocked
}

func (h *handover) block() error {
	if err := h.takeInherited(); err != nil {
		return err
	}
	if h.taken == 0 && h.intake.untaken() == 0 {
		return nil // the real broker may have the store
	}
	var err error
	h.state.without(func() {
		if err = h.save(); err == nil {
			err = rocketmq.Block(h.fs)
		}
	})
	if err != nil {
		return fmt.Errorf("timer: keep the real broker out: %w", err)
	}
	h.blocked = true
	return nil
}

// takeInherited takes in what the real broker left. After an error it goes on where it was.
func (h *handover) takeInherited() error {
	if h.pending == nil {
		return nil
	}
	seen := int64(0)
	err := h.pending.Each(func(r rocketmq.Reference) error {
		if seen++; seen <= h.taken {
			return nil
		}
		if err := h.intake.takeOne(&store.Unit{CommitLogOffset: r.CommitLogOffset, Size: r.Size}, h.clock.NowMillis()); err != nil {
			return err
		}
		h.taken++
		if h.state.progress++; h.taken%enqueueBatch == 0 {
			h.state.giveWay()
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("timer: take over the timers of RocketMQ: %w", err)
	}
	if h.taken > 0 {
		if h.differences != nil {
			h.differences.Use(difference.TimersTakenOver)
		}
		h.logger.WithFields(logrus.Fields{"records": h.taken, "queueOffset": h.pending.Resume()}).Info("timers of RocketMQ are taken over")
	}
	h.pending = nil
	return nil
}

// inherits tells that what the real broker left is not this server's yet.
func (h *handover) inherits() bool { return h.pending != nil || h.taken > 0 && !h.blocked }

// incomplete tells that a checkpoint would miss what the real broker left.
func (h *handover) incomplete() bool {
	h.state.mu.Lock()
	defer h.state.mu.Unlock()
	return h.pending != nil
}

// handBack lets the real broker have the store when nothing pends in it. The caller has closed the
// lines and saved.
func (h *handover) handBack() error {
	if err := rocketmq.Release(h.fs, clock.WallMillis(h.clock), h.state.queueOffset); err != nil {
		return fmt.Errorf("timer: let the real broker have the store: %w", err)
	}
	h.blocked = false
	// What is done is named in there still. It would be met again by whoever opens the store next.
	if err := h.fs.Remove(dir); err != nil {
		return fmt.Errorf("timer: %w", err)
	}
	return nil
}

// timerRecords are the records of the timer topic.
type timerRecords struct{ *records }

func (r timerRecords) TimerUnits() (from, to int64) {
	if q := r.queue(); q != nil {
		return q.Min(), q.Max()
	}
	return 0, 0
}

func (r timerRecords) TimerUnit(queueOffset int64) (rocketmq.Reference, error) {
	var u [1]store.Unit
	n, err := r.queue().Units(queueOffset, u[:])
	if err == nil && n == 0 {
		err = fmt.Errorf("timer: the timer queue has no unit %d", queueOffset)
	}
	return rocketmq.Reference{CommitLogOffset: u[0].CommitLogOffset, Size: u[0].Size}, err
}

func (r timerRecords) Properties(ref rocketmq.Reference, use func([]byte) error) error {
	var used bool
	var failed error
	err := r.withRecord(ref.CommitLogOffset, ref.Size, nil, func(v *message.View) error {
		used, failed = true, use(v.Properties)
		return nil
	})
	if !used && err != nil {
		r.lost(ref.CommitLogOffset, err)
	}
	return failed
}
