package timer

import (
	"errors"

	"github.com/wheelmq/wheelmq/broker/redeliver"
)

var errNotDurable = errors.New("timer: the copies of a batch are not durable")

// flight is a batch on its way: its copies are appended and not yet known to be stored for good.
type flight struct {
	redeliver.Flight
	line    *line
	sec     *second
	entries []int32 // of sec, whose copies are on their way
}

// begin makes a flight, and its second one that copies were made of, before the first is.
func (s *Service) begin(l *line, sec *second) *flight {
	var f *flight
	if n := len(s.worker.idle); n > 0 {
		f, s.worker.idle = s.worker.idle[n-1], s.worker.idle[:n-1]
	} else {
		f = new(flight)
		f.Wake = s.wake
	}
	f.line, f.sec, f.entries = l, sec, f.entries[:0]
	f.Begin() // until launch
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
	if f.Drop() {
		s.land(f)
		return
	}
	s.flights = append(s.flights, f)
}

// settle takes in the flights that everything is known of.
func (s *Service) settle() (failed bool) {
	kept := s.flights[:0]
	for _, f := range s.flights {
		if !f.Landed() {
			kept = append(kept, f)
			continue
		}
		failed = failed || f.Failed()
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
	if f.Failed() {
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
