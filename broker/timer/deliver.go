package timer

import (
	"fmt"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/broker/redeliver"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
)

const (
	// batch is how many messages of one second are delivered before others have their turn.
	batch = 256
	// maxInFlight is how many copies may be appended and not yet durable.
	maxInFlight = 8192
)

// worker has what belongs to the one who delivers and takes in.
type worker struct {
	units [enqueueBatch]store.Unit
	copy  *redeliver.Copier
	idle  []*flight // to be used again
	stall string    // why this pass delivers nothing, or ""
	// withheld: this pass has told Stall that something was due.
	withheld bool
}

// fate is what became of a due message.
type fate int

const (
	sent    fate = iota // its copy is stored, or on its way
	gone                // delivered before, cancelled, parked or lost
	waiting             // its target refuses it, by an error, or others before it
	refused             // the store refuses everything
)

// deliverDue delivers at most a batch of what is due in a second up to an instant of its line. The
// error is the store's refusal.
func (s *Service) deliverDue(l *line, sec *second, until int64) error {
	f := s.begin(l, sec)
	defer s.launch(f)
	for range min(batch, maxInFlight-s.inFlight) {
		e := sec.first()
		if e == nil || sec.dueOf(e) > until {
			break
		}
		due := sec.dueOf(e)
		out, err := s.deliver(sec, e, f)
		if out == refused {
			return err
		}
		i := sec.pop()
		s.loaded--
		switch out {
		case sent:
			f.entries = append(f.entries, i)
			s.lateness.Observe(float64(max(until-due, 0)) / 1000)
		case waiting:
			s.held.push(s.worker.copy.Record.Topic, heldEntry{l, sec, i}, s.opts.Store.NowMillis(), err)
			sec.held++
		}
	}
	return nil
}

// deliver stores the copy of a due message in its real topic, as part of a flight.
func (s *Service) deliver(sec *second, e *entry, f *flight) (out fate, err error) {
	defer func() {
		if p := recover(); p != nil {
			_ = s.lost(e.logOffset, faultOf(p))
			s.delivered.Add(1)
			s.progress++
			out, err = gone, nil
		}
	}()
	kept := e.bytes()
	if kept == nil {
		slice, err := s.opts.Log.Record(e.logOffset, e.size)
		if err != nil {
			return s.missing(sec, e, err)
		}
		defer slice.Release()
		kept = slice.Bytes
	}
	v, err := message.Parse(kept)
	if err != nil {
		return s.missing(sec, e, err)
	}
	return s.deliverView(&v, sec, e, f)
}

func (s *Service) deliverView(v *message.View, sec *second, e *entry, f *flight) (fate, error) {
	c := s.worker.copy
	reason := c.Make(v, e.logOffset)
	count := s.topics.of(c.Record.Topic)
	switch {
	case s.known.has(e.logOffset):
		s.count(count, sec)
		return gone, nil
	case sec.hasCancels() && s.isCancelled(sec, e, v):
		s.cancelled.Add(1)
		s.countRemoved(count, sec, e)
		return gone, nil
	case reason == "" && s.held.blocks(c.Record.Topic):
		return waiting, nil
	}
	if reason == "" {
		out, err := s.put(f)
		if out != gone {
			if out == sent {
				s.count(count, sec)
			}
			return out, err
		}
		reason = err.Error()
	}
	if err := s.opts.Park.Park(&c.Record, "timer", reason); err != nil {
		return refused, fmt.Errorf("timer: %w", err)
	}
	s.parked.Add(1)
	return s.gone(count, sec, nil)
}

// missing ends a message whose record cannot be read.
func (s *Service) missing(sec *second, e *entry, err error) (fate, error) {
	if s.known.has(e.logOffset) {
		return gone, nil
	}
	return s.gone(nil, sec, s.lost(e.logOffset, err))
}

// put appends the copy that was made. With gone the error is why its target will never take it.
func (s *Service) put(f *flight) (fate, error) {
	rec := &s.worker.copy.Record
	f.Add()
	res, pending, err := s.opts.Appender.Put(rec, appender.FromScheduler, f)
	if !pending {
		f.Drop()
	}
	switch {
	case err == nil:
		return sent, nil
	case redeliver.Permanent(err):
		return gone, err
	case res.Status == store.PutOK:
		// Not the store refused, but somebody before it, who may mean this topic only.
		return waiting, err
	}
	return refused, fmt.Errorf("timer: deliver to %s: %w", rec.Topic, err)
}

// gone notes a message that came due and has no copy on its way.
func (s *Service) gone(count *topicCount, sec *second, err error) (fate, error) {
	s.delivered.Add(1)
	s.count(count, sec)
	return gone, err
}

// countRemoved is count for a message that something removes.
func (s *Service) countRemoved(t *topicCount, sec *second, e *entry) {
	if sec.removedByRef(e) {
		t = nil
	}
	s.count(t, sec)
}

// count takes a message out of the pending ones of its topic, nil when that is not known. A
// checkpoint has it as pending until its second is done.
func (s *Service) count(t *topicCount, sec *second) {
	s.progress++
	if t == nil {
		return
	}
	t.n--
	if sec.removed == nil {
		sec.removed = make(map[*topicCount]int64)
	}
	sec.removed[t]++
}
