package timer

import (
	"errors"
	"fmt"
	"maps"
	"sync"
)

const (
	dir            = "timer"
	checkpointFile = dir + "/checkpoint"
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
// the checkpoint.
type saver struct {
	s *Service

	turn sync.Mutex // of saves

	mu       sync.Mutex // guards all below
	progress int64      // of the Service at the last save
	logEnd   int64      // of the last save
	failed   error      // of the last save
}

func (v *saver) run() {
	defer v.s.wg.Done()
	timer := v.s.opts.Wire.NewTimer()
	defer timer.Disarm()
	for {
		timer.Arm(v.s.opts.Wire.NowMillis() + v.s.opts.SaveMs)
		select {
		case <-timer.C():
		case <-v.s.stop:
			return
		}
		if v.due() {
			_ = v.save(true) // a failure is told and tried again
		}
	}
}

// due tells whether there is something to save.
func (v *saver) due() bool {
	v.s.mu.Lock()
	progress := v.s.progress
	v.s.rates.look(v.s.queueOffset, v.s.delivered.Load(), v.s.opts.Wire.NowMillis())
	v.s.mu.Unlock()
	v.mu.Lock()
	defer v.mu.Unlock()
	return progress != v.progress || v.failed != nil || v.s.opts.Log.MaxCommitLogOffset()-v.logEnd > maxSearch
}

// save writes a checkpoint of now, once the log's flusher had a moment if the caller can wait. A
// failure is told once and shown until a save works.
func (v *saver) save(canWait bool) error {
	v.turn.Lock()
	defer v.turn.Unlock()
	if v.s.incomplete() {
		return nil // a start takes over again from the real broker's files
	}
	err := v.write(canWait)
	v.mu.Lock()
	was := v.failed
	v.failed = err
	v.mu.Unlock()
	if err != nil && was == nil {
		v.s.opts.Logger.WithError(err).Error("the timers' checkpoint cannot be saved: after a crash a start takes longer")
	} else if err == nil && was != nil {
		v.s.opts.Logger.Info("the timers' checkpoint is saved again")
	}
	return err
}

func (v *saver) write(canWait bool) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("timer: %w", faultOf(p))
		}
	}()
	c, progress, oldest, err := v.s.snapshot()
	if err != nil {
		return err
	}
	if err := v.flushed(c.logEnd, canWait); err != nil {
		return err
	}
	for _, l := range v.s.lines {
		if err := l.t.Sync(); err != nil {
			return err
		}
	}
	b, err := c.encode()
	if err != nil {
		return err
	}
	if err := v.s.opts.FS.WriteFile(checkpointFile, b); err != nil {
		return fmt.Errorf("timer: save the checkpoint: %w", err)
	}
	v.saved(c, progress, oldest)
	return nil
}

// flushed returns when the log is durable up to an offset.
func (v *saver) flushed(end int64, canWait bool) error {
	log, wire := v.s.opts.Log, v.s.opts.Wire
	timer := wire.NewTimer()
	defer timer.Disarm()
	for until := wire.NowMillis() + flushWaitMs; canWait && log.FlushedOffset() < end && wire.NowMillis() < until; {
		timer.Arm(wire.NowMillis() + flushPollMs)
		select {
		case <-timer.C():
		case <-v.s.stop:
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
	v.s.mu.Lock()
	defer v.s.mu.Unlock()
	for i, l := range v.s.lines {
		l.t.Saved(c.lines[i])
	}
	v.s.savedOldest, v.s.savedOffset = oldest, c.queueOffset
	v.s.saves, v.s.savedAt = v.s.saves+1, v.s.opts.Store.NowMillis()
	v.s.noteOldest()
}

// snapshot takes the state of everything at one moment, and the log offset from which on the log is
// needed for it.
func (s *Service) snapshot() (c *checkpoint, progress, oldest int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.half != nothing {
		return nil, 0, 0, errHalfTaken
	}
	if len(s.aside.units) > 0 {
		return nil, 0, 0, errAside
	}
	c = &checkpoint{
		epoch: s.opts.Log.Epoch(), logEnd: s.opts.Log.Published(), queueOffset: s.queueOffset,
		topics: make(map[string]int64), reached: s.reached,
	}
	c.copiesFrom = min(c.logEnd, s.copiesFrom())
	for _, t := range s.topics.byName {
		if t.n != 0 {
			c.topics[t.name] = t.n
		}
	}
	for i, l := range s.lines {
		if c.lines[i], err = l.t.State(); err != nil {
			return nil, 0, 0, err
		}
		c.reached = max(c.reached, s.nowOf(l, s.opts.Store.NowMillis())/1000)
		for _, sec := range l.loaded {
			for t, n := range sec.removed {
				c.topics[t.name] += n
			}
		}
	}
	s.reached = c.reached
	s.forgetMoved()
	c.moved, c.damaged = maps.Clone(s.moved), s.damagedThen+s.damage()
	return c, s.progress, s.needed(), nil
}

// needed is the log offset from which on the log is needed for what pends now; never: not at all.
func (s *Service) needed() int64 {
	oldest := never
	for _, l := range s.lines {
		if at, ok := l.t.OldestReference(); ok {
			oldest = min(oldest, at)
		}
	}
	if q := s.opts.Log.Queue(topicTimer, 0); q != nil {
		if u, ok := q.Unit(max(s.queueOffset, q.Min())); ok {
			oldest = min(oldest, u.CommitLogOffset)
		}
	}
	if len(s.aside.units) > 0 {
		oldest = min(oldest, s.aside.units[0].CommitLogOffset)
	}
	if s.opts.Enabled {
		oldest = min(oldest, s.copiesFrom())
	}
	return oldest
}

// copiesFrom is the log offset from which on a start must find the copies of messages that are still
// named as pending; never: there are none. A second is named until all of it is delivered.
func (s *Service) copiesFrom() int64 {
	from := s.known.copiesFrom()
	for _, l := range s.lines {
		for _, sec := range l.loaded {
			if sec.begun {
				from = min(from, sec.from)
			}
		}
	}
	return from
}

// noteOldest tells the log's keeper what is needed, by now or by the last checkpoint.
func (s *Service) noteOldest() {
	if s.progress == s.notedAt && s.oldest.Load() == min(s.savedOldest, s.oldestNow) {
		return
	}
	s.notedAt, s.oldestNow = s.progress, s.needed()
	s.oldest.Store(min(s.savedOldest, s.oldestNow))
}

// failure is why the last save did not work, or nil.
func (v *saver) failure() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.failed
}
