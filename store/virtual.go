package store

import (
	"errors"
	"fmt"
	"time"

	"github.com/wheelmq/wheelmq/clock"
)

// ErrOtherClock is wrapped when a store's time is a virtual clock's and it is opened with the real
// one, or the other way round: what waits in it would be due at other times.
var ErrOtherClock = errors.New("the store belongs to another clock")

// virtualMark is the stamp of a store whose time is a virtual clock's.
type virtualMark struct {
	Now int64 `json:"now"` // where the clock stood, ms since the Unix epoch
}

// refuseClock refuses, without writing, a store of the other kind of clock. An empty one of the
// real clock may become one of a virtual clock.
func (s *Store) refuseClock(log layout) error {
	// Unreadable notes are told when they are loaded.
	notes, err := ReadNotes(s.fs)
	stamped := err == nil && notes.Virtual
	switch {
	case stamped && !s.opts.Virtual:
		return fmt.Errorf("store: %s: %w: it was made with a virtual clock, which stands at %s; start it with a virtual clock or take another directory",
			s.where(), ErrOtherClock, time.UnixMilli(notes.VirtualNow).UTC().Format(time.RFC3339))
	case stamped || !s.opts.Virtual:
		return nil
	}
	used, err := s.hasRecords(log)
	if err != nil || !used {
		return err
	}
	return fmt.Errorf("store: %s: %w: it has messages of the real clock; a virtual clock wants an empty directory or one of its own",
		s.where(), ErrOtherClock)
}

func (s *Store) where() string {
	if s.opts.Memory != nil || s.opts.FS != nil {
		return "the store in memory"
	}
	return s.opts.Dir
}

// hasRecords tells whether a record was ever stored.
func (s *Store) hasRecords(log layout) (bool, error) {
	if len(log.starts) == 0 {
		return false, nil
	}
	if log.starts[0] > 0 {
		return true, nil
	}
	r, err := readOnly(s.fs).Open(logFileName(0), 0)
	if err != nil {
		return false, err
	}
	b := r.Bytes()
	used := len(b) < 8 || [8]byte(b) != [8]byte{}
	return used, r.Close()
}

// beginClock puts a virtual clock where the store's time stands: where the clock was when that
// was last noted, and not before any record that is left. A new store begins where the clock is.
func (s *Store) beginClock() {
	if v, ok := s.opts.Clock.(*clock.Virtual); ok && s.meta.Virtual != nil && s.opts.Virtual {
		v.Begin(max(s.meta.Virtual.Now, s.lastStamp))
	}
}

// markClock notes where a virtual clock stands. Caller holds flushMu, or is alone.
func (s *Store) markClock() {
	if s.opts.Virtual {
		s.meta.Virtual = &virtualMark{Now: s.opts.Clock.NowMillis()}
	}
}

// KeepNow notes durably where a virtual clock stands, so that not even a power cut takes it back;
// otherwise that is noted with every checkpoint. It does nothing with the real clock.
func (s *Store) KeepNow() error {
	if !s.opts.Virtual {
		return nil
	}
	s.flushMu.Lock()
	defer s.flushMu.Unlock()
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return errClosed
	}
	s.markClock()
	return s.saveMeta()
}
