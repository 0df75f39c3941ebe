package timer

import (
	"errors"
	"sync/atomic"

	"github.com/wheelmq/wheelmq/store"
)

var errNotDurable = errors.New("timer: the copies of a batch are not durable")

// flight is a batch on its way: its copies are appended and not yet known to be stored for good.
type flight struct {
	s       *Service
	line    *line
	sec     *second
	entries []int32      // of sec, whose copies are on their way
	left    atomic.Int32 // copies not told about yet
	failed  atomic.Bool
}

// PutDone implements store.Completion.
func (f *flight) PutDone(res store.PutResult) {
	if !res.OK() {
		f.failed.Store(true)
	}
	if f.left.Add(-1) == 0 {
		f.s.wake()
	}
}

// begin makes a flight, and its second one that copies were made of, before the first is.
func (s *Service) begin(l *line, sec *second) *flight {
	f := &flight{s: s}
	if n := len(s.worker.idle); n > 0 {
		f, s.worker.idle = s.worker.idle[n-1], s.worker.idle[:n-1]
	}
	f.line, f.sec, f.entries = l, sec, f.entries[:0]
	f.failed.Store(false)
	f.left.Store(1) // the driver itself, until launch
	if !sec.begun {
		sec.begun, sec.from = true, s.opts.Log.MaxCommitLogOffset()
	}
	return f
}

// launch ends the making of a flight. What is stored for good already does not wait.
func (s *Service) launch(f *flight) {
	n := len(f.entries)
	f.sec.inFlight += n
	s.inFlight += n
	if f.left.Add(-1) == 0 {
		s.land(f)
		return
	}
	s.flights = append(s.flights, f)
}

// settle takes in the flights that everything is known of.
func (s *Service) settle() (failed bool) {
	kept := s.flights[:0]
	for _, f := range s.flights {
		if f.left.Load() > 0 {
			kept = append(kept, f)
			continue
		}
		failed = failed || f.failed.Load()
		s.land(f)
	}
	clear(s.flights[len(kept):])
	s.flights = kept
	return failed
}

// land ends a flight. A put that fails after it was accepted means a store that accepts nothing
// more until it is opened again, and then the copies that made it are recognised: its messages are
// pending again.
func (s *Service) land(f *flight) {
	n := len(f.entries)
	f.sec.inFlight -= n
	s.inFlight -= n
	if f.failed.Load() {
		for _, i := range f.entries {
			f.sec.link(i)
		}
		s.loaded += n
		s.storing.refused(s.opts.Store.NowMillis(), errNotDurable)
	} else {
		s.delivered.Add(int64(n))
	}
	f.line, f.sec = nil, nil
	s.worker.idle = append(s.worker.idle, f)
}
