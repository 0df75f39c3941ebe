package timer

import (
	"errors"
	"fmt"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/broker/redeliver"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
)

const (
	// batch is how many messages of one second are delivered before others have their turn.
	batch = 512
	// maxInFlight is how many copies may be appended and not yet durable.
	maxInFlight = 8192
)

// worker has what belongs to the one who delivers and takes in.
type worker struct {
	units  [enqueueBatch]store.Unit
	copy   *redeliver.Copier
	putter putter
	idle   []*flight // to be used again
	stall  string    // why this pass delivers nothing, or ""
	// withheld: this pass has told Stall that something was due.
	withheld bool
}

// fate is what became of a due message.
type fate int

const (
	sent    fate = iota // its copy is in the group that is put next
	gone                // delivered before, cancelled, parked or lost
	waiting             // its target refuses it, by an error, or others before it
	refused             // the store refuses everything
)

// deliverDue delivers at most a batch of what is due in a second up to an instant of its line. The
// error is the store's refusal.
func (s *Service) deliverDue(l *line, sec *second, until int64) error {
	f := s.begin(l, sec)
	defer s.launch(f)
	err := s.collectDue(l, sec, until, f)
	return errors.Join(err, s.putGroup(f))
}

// collectDue collects copies for a flight, and puts what is collected whenever there is enough.
func (s *Service) collectDue(l *line, sec *second, until int64, f *flight) error {
	for range min(batch, maxInFlight-s.inFlight) {
		e := sec.first()
		if e == nil || sec.dueOf(e) > until {
			break
		}
		late := max(until-sec.dueOf(e), 0)
		out, err := s.deliver(sec, e)
		switch out {
		case refused:
			return err
		case waiting:
			// Those before it are in its topic, or still before it.
			if err := s.putGroup(f); err != nil {
				return err
			}
		}
		i := sec.pop()
		s.loaded--
		switch out {
		case sent:
			if s.worker.putter.making.made(i, late) {
				if err := s.handOver(f); err != nil {
					return err
				}
			}
		case waiting:
			s.held.push(s.worker.copy.Record.Topic, heldEntry{l, sec, i}, s.opts.Store.NowMillis(), err)
			sec.held++
		}
	}
	return nil
}

// deliver collects the copy of a due message for its real topic, as part of a flight.
func (s *Service) deliver(sec *second, e *entry) (out fate, err error) {
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
	return s.deliverView(&v, sec, e)
}

func (s *Service) deliverView(v *message.View, sec *second, e *entry) (fate, error) {
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
		g := s.worker.putter.making
		full, err := s.opts.Appender.Collect(&g.records, &c.Record, appender.FromScheduler)
		switch {
		case err == nil:
			g.collected(count, int64(message.EncodedLen(&c.Record)), full)
			return sent, nil
		case !redeliver.Permanent(err):
			// Not the store refuses, but somebody before it, who may mean this topic only.
			return waiting, err
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
func (s *Service) count(t *topicCount, sec *second) { s.countMany(t, sec, 1) }

func (s *Service) countMany(t *topicCount, sec *second, n int64) {
	s.progress += n
	if t == nil {
		return
	}
	t.n -= n
	t.out += n
	if sec.removed == nil {
		sec.removed = make(map[*topicCount]int64)
	}
	sec.removed[t] += n
}
