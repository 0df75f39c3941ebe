package pop

import (
	"errors"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/broker/redeliver"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
)

// revival is a message that was not acknowledged in time, on its way to its retry topic.
type revival struct {
	d         *driver
	w         *Window
	offset    int64
	popTime   int64
	due       int64
	suspended bool
}

// errGone is why a message cannot be brought back: it was deleted with its log file.
var errGone = errors.New("the message is not in the store any more")

// begin stores the copy.
func (r *revival) begin() {
	r.d.left.Add(1)
	pending, err := r.put()
	if !pending {
		r.finish(err)
	}
}

func (r *revival) put() (pending bool, err error) {
	defer recovered(&err)
	s := r.d.s
	q := s.opts.Log.Queue(r.w.topic, r.w.key.QueueID)
	if q == nil || r.offset < q.Min() || r.offset >= q.Max() {
		return false, errGone
	}
	u, ok := q.Unit(r.offset)
	if !ok {
		return false, errGone
	}
	slice, err := s.opts.Log.Record(u.CommitLogOffset, u.Size)
	if err != nil {
		return false, errors.Join(errGone, err)
	}
	defer slice.Release()
	v, err := message.Parse(slice.Bytes)
	if err != nil {
		return false, errors.Join(errGone, err)
	}
	rec, err := r.d.copy.make(r, &v)
	if err != nil {
		return false, err
	}
	_, pending, err = s.opts.Appender.Put(rec, appender.FromScheduler, r)
	if err != nil && redeliver.Permanent(err) {
		return false, s.opts.Park.Park(rec, "pop", err.Error())
	}
	return pending, err
}

// PutDone implements store.Completion.
func (r *revival) PutDone(res store.PutResult) { r.finish(appender.Refusal(res)) }

// finish notes what became of the copy.
func (r *revival) finish(err error) {
	s, w := r.d.s, r.w
	switch {
	case err == nil:
		s.counts.revived(s.opts.Store.NowMillis() - r.due)
	case errors.Is(err, errGone):
		s.lost(r, err)
		err = nil
	}
	w.mu.Lock()
	e := w.held.find(r.offset)
	switch {
	case e == nil || e.popTime != r.popTime || w.gone:
		err = nil
	case err == nil:
		w.end(r.offset)
	default:
		e.state &^= reviving
	}
	w.mu.Unlock()
	if err != nil {
		s.refused(r, err)
	}
	if r.d.left.Add(-1) == 0 {
		s.wake()
	}
}

// recovered turns the panic of a look at a part of the log that was cut from outside into an error.
func recovered(err *error) {
	if p := recover(); p != nil {
		fault, ok := store.Fault(p)
		if !ok {
			panic(p)
		}
		*err = fault
	}
}
