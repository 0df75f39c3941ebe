package schedule

import (
	"fmt"

	"github.com/sirupsen/logrus"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/broker/redeliver"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
)

// worker delivers: what belongs to the driver's goroutine.
type worker struct {
	s     *Service
	units [batch]store.Unit
	dues  [batch]int64 // ms
	copy  *redeliver.Copier
	topic string    // of the last message that was delivered, "" when it is not known
	idle  []*flight // to be used again
	stall string    // why this pass delivers nothing, or ""
	// withheld: this pass has told Stall that something was due.
	withheld bool
}

// deliver stores the copy of one pending record in its real topic, as part of a flight. A nil
// error means that the record is done with: delivered, or parked.
func (w *worker) deliver(l *level, u *store.Unit, f *flight) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = w.lost(l, u, store.FaultOf(p))
		}
	}()
	slice, err := w.s.opts.Log.Record(u.CommitLogOffset, u.Size)
	if err != nil {
		return w.lost(l, u, err)
	}
	defer slice.Release()
	v, err := message.Parse(slice.Bytes)
	if err != nil {
		return w.lost(l, u, err)
	}
	reason := w.copy.Make(&v, u.CommitLogOffset)
	if w.topic = w.copy.Record.Topic; w.topic == message.TopicSchedule {
		w.topic = ""
	}
	if reason == "" {
		var pending bool
		f.Add()
		var res store.PutResult
		res, pending, err = w.s.opts.Appender.Put(&w.copy.Record, appender.FromScheduler, f)
		if !pending {
			f.Drop()
		}
		if err == nil {
			if w.s.opts.Counted != nil {
				w.s.opts.Counted(w.copy.Record.Topic, l.queueID, int64(res.Size))
			}
			return nil
		}
		if !redeliver.Permanent(err) {
			return fmt.Errorf("schedule: deliver to %s: %w", w.copy.Record.Topic, err)
		}
		reason = err.Error()
	}
	return w.s.opts.Park.Park(&w.copy.Record, "schedule", reason)
}

// lost notes a pending record that cannot be read. It cannot be parked, having no content;
// it is counted and does not stop the level. Of many, fewer and fewer are named.
func (w *worker) lost(l *level, u *store.Unit, err error) error {
	w.topic = ""
	if n := w.s.unreadable.Add(1); n&(n-1) == 0 {
		w.s.opts.Wheel.WithError(err).
			WithFields(logrus.Fields{"level": l.number, "commitLogOffset": u.CommitLogOffset, "messages": n}).
			Error("a pending delayed message cannot be read and is lost")
	}
	return nil
}
