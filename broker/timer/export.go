package timer

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/wheelmq/wheelmq/message"
	wheel "github.com/wheelmq/wheelmq/store/timer"
)

// realPrecisionMs is the timerPrecisionMs of a real broker by default.
const realPrecisionMs = 1000

// Exported is what Export has given out.
type Exported struct {
	Messages, Cancels int64
	// Lost records cannot be read.
	Lost int64
}

// Export gives everything that pends, messages and cancels in any order, as records of the timer
// topic that the real broker understands. It needs a service that was not started. The record is
// valid during put.
func (s *Service) Export(put func(*message.Record) error) (Exported, error) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	s.intake.catchUp(s.opts.Store.NowMillis(), nil)
	if s.intake.wait.refusals > 0 || s.handover.inherits() || s.intake.untaken() > 0 {
		return Exported{}, errors.New("timer: not everything that pends can be taken out of the timer queue, see the log")
	}
	e := export{state: &s.state, records: &s.records, put: put, cancels: make(map[exportedCancel]bool), refs: make(map[int64]bool)}
	lost := s.records.unreadable.Load()
	if err := e.each(e.note); err != nil {
		return e.done, err
	}
	err := e.each(e.give)
	e.done.Lost = s.records.unreadable.Load() - lost
	return e.done, err
}

// export goes through both lines.
type export struct {
	state   *state
	records *records
	put     func(*message.Record) error
	rec     message.Record
	done    Exported
	cancels map[exportedCancel]bool // a cancel is kept on both lines
	refs    map[int64]bool          // log offsets of messages that are removed by those
}

// exportedCancel is a cancel by its place in the log, and the instant that it names in the copy.
type exportedCancel struct{ logOffset, outMs int64 }

// each visits every entry until an error.
func (e *export) each(visit func(int64, *wheel.Item) error) error {
	for _, l := range e.state.lines {
		err := l.each(l.t.Hand(), visit)
		if err != nil {
			return fmt.Errorf("timer: %w", err)
		}
	}
	return nil
}

// note finds what is removed by its place in the log.
func (e *export) note(_ int64, item *wheel.Item) error {
	if item.Flags&wheel.CancelRef == 0 {
		return nil
	}
	removes, err := e.records.refOf(item)
	if err != nil {
		e.records.lost(item.LogOffset, err)
		return nil
	}
	e.refs[removes] = true
	return nil
}

func (e *export) give(number int64, item *wheel.Item) error {
	if item.Flags&wheel.CancelRef != 0 || e.refs[item.LogOffset] || e.state.known.has(item.LogOffset) {
		return nil
	}
	var failed error
	err := e.records.withRecord(item.LogOffset, item.Size, item.Record, func(v *message.View) error {
		failed = e.giveView(number, item, v)
		return nil
	})
	if err != nil {
		e.records.lost(item.LogOffset, err)
		return nil
	}
	return failed
}

func (e *export) giveView(number int64, item *wheel.Item, v *message.View) error {
	p, reason := readPending(v, e.records.precisionMs)
	if reason != "" {
		return fmt.Errorf("timer: a pending record at %d: %s", item.LogOffset, reason)
	}
	due, out := p.due.Ms, message.TimerOut(p.due.Ms, realPrecisionMs)
	if p.cancels != nil {
		if out = p.out / realPrecisionMs * realPrecisionMs; !p.names(number, e.records.precisionMs) {
			out = number * realPrecisionMs // its message has moved there
		}
		if e.cancels[exportedCancel{item.LogOffset, out}] {
			return nil
		}
		e.cancels[exportedCancel{item.LogOffset, out}] = true
		due = out + 1
	}
	e.rec = v.RecordFor(message.TopicTimer, 0, realProperties(e.rec.Properties[:0], v.Properties, &p, due, out))
	e.rec.Internal = true
	if err := e.put(&e.rec); err != nil {
		return err
	}
	if p.cancels != nil {
		e.done.Cancels++
	} else {
		e.done.Messages++
	}
	return nil
}

// realProperties appends the properties of a pending record as the real broker makes them.
func realProperties(dst, props []byte, p *pendingRecord, due, out int64) []byte {
	var digits [20]byte
	dst = message.PropertyCopyWithout(dst, props, func(name []byte) bool {
		switch string(name) {
		case message.PropertyRealTopic, message.PropertyRealQueueID:
			return false
		case message.PropertyTimerDelUniqKey, message.PropertySource, message.PropertySupersedes:
			return true
		}
		return message.IsPending(name)
	})
	dst = message.PropertyAppend(dst, message.PropertyTimerDeliverMs, strconv.AppendInt(digits[:0], due, 10))
	dst = message.PropertyAppend(dst, message.PropertyTimerOutMs, strconv.AppendInt(digits[:0], out, 10))
	if p.cancels != nil {
		dst = message.PropertyAppend(dst, message.PropertyTimerDelUniqKey, p.cancels)
	}
	return dst
}
