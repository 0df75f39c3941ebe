package timer

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/store"
)

const (
	// saveMs is the time between checkpoints while something changes, ms.
	saveMs = 3000
	// maxSearch is how much of the log a start may have to look through for copies that no
	// checkpoint covers, bytes: after so much of other traffic an unchanged one is saved again.
	maxSearch = 256 << 20
	// flushWaitMs is how long a checkpoint waits for the log's flusher, ms, looking every flushPollMs.
	flushWaitMs = 1000
	flushPollMs = 20
)

var errNotFlushed = errors.New("timer: the log is not durable up to the checkpoint")

// saver writes checkpoints: the log is durable up to what one names, then the Timelines' files, then
// the checkpoint. It is called without the lock.
type saver struct {
	state       *state
	log         Log
	intake      *intake
	handover    *handover
	pin         *pin
	rates       *rates
	checkpoints checkpoints
	clock       clock.Clock // of messages
	wire        clock.Clock // paces it
	logger      logrus.FieldLogger
	ctx         context.Context // ends with the service
	everyMs     int64           // between checkpoints while something changes

	turn sync.Mutex // of saves

	mu       sync.Mutex // guards what follows, up to failed
	progress int64      // of the state at the last save
	logEnd   int64      // of the last save
	failed   error      // of the last save

	saves       int64 // since the start; guarded by the state's lock, like what follows
	savedAt     int64 // of the last one, ms of message time
	savedOffset int64 // queueOffset of the last checkpoint
	reached     int64 // the last second of which something may be delivered
}

// run saves while something changes, until the service ends.
func (v *saver) run() {
	timer := v.wire.NewTimer()
	defer timer.Disarm()
	for {
		timer.Arm(v.wire.NowMillis() + v.everyMs)
		select {
		case <-timer.C():
		case <-v.ctx.Done():
			return
		}
		if v.due() {
			_ = v.save(true) // a failure is told and tried again
		}
	}
}

// due tells whether there is something to save.
func (v *saver) due() bool {
	v.state.mu.Lock()
	progress := v.state.progress
	v.rates.look(v.wire.NowMillis())
	v.state.mu.Unlock()
	v.mu.Lock()
	defer v.mu.Unlock()
	return progress != v.progress || v.failed != nil || v.log.MaxCommitLogOffset()-v.logEnd > maxSearch
}

// save writes a checkpoint of now, once the log's flusher had a moment if the caller can wait. A
// failure is told once and shown until a save works.
func (v *saver) save(canWait bool) error {
	v.turn.Lock()
	defer v.turn.Unlock()
	if v.handover.incomplete() {
		return nil // a start takes over again from the real broker's files
	}
	err := v.write(canWait)
	v.mu.Lock()
	was := v.failed
	v.failed = err
	v.mu.Unlock()
	if err != nil && was == nil {
		v.logger.WithError(err).Error("the timers' checkpoint cannot be saved: after a crash a start takes longer")
	} else if err == nil && was != nil {
		v.logger.Info("the timers' checkpoint is saved again")
	}
	return err
}

func (v *saver) write(canWait bool) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("timer: %w", store.FaultOf(p))
		}
	}()
	c, progress, oldest, err := v.snapshot()
	if err != nil {
		return err
	}
	if err := v.flushed(c.logEnd, canWait); err != nil {
		return err
	}
	for _, l := range v.state.lines {
		if err := l.t.Sync(); err != nil {
			return err
		}
	}
	if err := v.checkpoints.write(c); err != nil {
		return err
	}
	v.saved(c, progress, oldest)
	return nil
}

// flushed returns when the log is durable up to an offset.
func (v *saver) flushed(end int64, canWait bool) error {
	log, wire := v.log, v.wire
	timer := wire.NewTimer()
	defer timer.Disarm()
	for until := wire.NowMillis() + flushWaitMs; canWait && log.FlushedOffset() < end && wire.NowMillis() < until; {
		timer.Arm(wire.NowMillis() + flushPollMs)
		select {
		case <-timer.C():
		case <-v.ctx.Done():
			canWait = false
		}
	}
	if log.FlushedOffset() >= end {
		return nil
	}
	if err := log.Flush(); err != nil {
		return fmt.Errorf("timer: %w", err)
	}
	if log.FlushedOffset() < end {
		return errNotFlushed
	}
	return nil
}

func (v *saver) saved(c *checkpoint, progress, oldest int64) {
	v.mu.Lock()
	v.progress, v.logEnd = progress, c.logEnd
	v.mu.Unlock()
	v.state.mu.Lock()
	defer v.state.mu.Unlock()
	for i, l := range v.state.lines {
		l.t.Saved(c.lines[i])
	}
	v.savedOffset = c.queueOffset
	v.saves, v.savedAt = v.saves+1, v.clock.NowMillis()
	v.pin.savedFrom(oldest)
}

// failure is why the last save did not work, or nil.
func (v *saver) failure() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.failed
}
