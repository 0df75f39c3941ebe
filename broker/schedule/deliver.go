package schedule

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/sirupsen/logrus"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/store"
)

// worker delivers: what belongs to the driver's goroutine.
type worker struct {
	s     *Service
	units [batch]store.Unit
	dues  [batch]int64 // ms
	rec   message.Record
	props []byte
	idle  []*flight // to be used again
	stall string    // why this pass delivers nothing, or ""
	// withheld: this pass has told Stall that something was due.
	withheld bool

	source sourceText
}

// deliver stores the copy of one pending record in its real topic, as part of a flight. A nil
// error means that the record is done with: delivered, or parked.
func (w *worker) deliver(l *level, u *store.Unit, f *flight) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = w.faulted(l, u, p)
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
	reason := w.rebuild(&v, u)
	if reason == "" {
		var pending bool
		f.left.Add(1)
		_, pending, err = w.s.opts.Appender.Put(&w.rec, appender.FromScheduler, f)
		if !pending {
			f.left.Add(-1)
		}
		if err == nil {
			return nil
		}
		if !permanent(err) {
			return fmt.Errorf("schedule: deliver to %s: %w", w.rec.Topic, err)
		}
		reason = err.Error()
	}
	return w.s.opts.Park.Park(&w.rec, "schedule", reason)
}

// permanent tells whether trying again is of no use.
func permanent(err error) bool {
	var refusal *remoting.Error
	return errors.As(err, &refusal) && refusal.Code == remoting.MessageIllegal
}

// lost notes a pending record that cannot be read. It cannot be parked, having no content;
// it is counted and does not stop the level. Of many, fewer and fewer are named.
func (w *worker) lost(l *level, u *store.Unit, err error) error {
	if n := w.s.unreadable.Add(1); n&(n-1) == 0 {
		w.s.opts.Wheel.WithError(err).
			WithFields(logrus.Fields{"level": l.number, "commitLogOffset": u.CommitLogOffset, "messages": n}).
			Error("a pending delayed message cannot be read and is lost")
	}
	return nil
}

// faulted ends a delivery whose record lies in a part of the log that was cut from outside.
func (w *worker) faulted(l *level, u *store.Unit, p any) error {
	fault, ok := store.Fault(p)
	if !ok {
		panic(p)
	}
	return w.lost(l, u, fault)
}

// rebuild makes the copy of a pending record in w.rec and returns why it cannot be delivered,
// if so. DELAY, REAL_TOPIC and REAL_QID stay on the copy, as on the real broker: consumers
// read them.
func (w *worker) rebuild(v *message.View, u *store.Unit) (reason string) {
	props, realTopic, queueID := realProperties(w.props[:0], v.Properties)
	w.props = message.PropertyAppend(props, message.PropertySource, w.source.of(u.CommitLogOffset))
	w.rec = message.Record{
		Topic: message.TopicSchedule, Flag: v.Flag, SysFlag: v.SysFlag, BornTimestamp: v.BornTimestamp, BornHost: v.BornHost,
		StoreHost: v.StoreHost, ReconsumeTimes: v.ReconsumeTimes, Body: v.Body, Properties: w.props,
	}
	n, err := strconv.ParseInt(string(queueID), 10, 32)
	if err != nil || n < 0 {
		return fmt.Sprintf("REAL_QID is %q", queueID)
	}
	w.rec.QueueID = int32(n)
	target := w.s.opts.Topics.Get(realTopic)
	if target == nil {
		w.rec.Topic = string(realTopic)
		// Deleting a topic deletes its queues: one that has them is only missing from the
		// table, as after the loss of topics.json, and gets its messages.
		if w.s.opts.Log.Queue(realTopic, w.rec.QueueID) != nil {
			return ""
		}
		return fmt.Sprintf("topic %q does not exist", realTopic)
	}
	w.rec.Topic = target.TopicName
	if target.TopicName == message.TopicTransHalf {
		return "a half message was delayed"
	}
	return ""
}

// realProperties appends to dst the properties of a pending record without this server's own,
// and returns where it goes.
func realProperties(dst, props []byte) (real, realTopic, queueID []byte) {
	for len(props) > 0 {
		at, end := message.PropertyBounds(props)
		name, rest := props[:at], message.PropertyRest(props, end)
		switch {
		case at == 0 || string(name) == message.PropertyDueMs || string(name) == message.PropertySource:
			props = rest
			continue
		case string(name) == message.PropertyRealTopic:
			realTopic = props[at+1 : end]
		case string(name) == message.PropertyRealQueueID:
			queueID = props[at+1 : end]
		}
		dst = append(dst, props[:len(props)-len(rest)]...)
		props = rest
	}
	return dst, realTopic, queueID
}
