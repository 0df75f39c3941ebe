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
	d       *driver
	w       *Window
	offset  int64
	popTime int64
	due     int64
	state   state
	copyAt  int64 // log offset of the copy
}

// errGone is why a message cannot be brought back: it was deleted with its log file.
var errGone = errors.New("the message is not in the store any more")

// begin stores the copy.
func (r *revival) begin() {
	r.d.left.Add(1)
	if r.state&copied != 0 {
		r.finish(nil)
		return
	}
	pending, err := r.put()
	if !pending {
		r.finish(err)
	}
}

func (r *revival) put() (pending bool, err error) {
	defer store.CatchFault(&err)
	s := r.d.s
	s.copying.Lock()
	defer s.copying.Unlock()
	if r.w.forgotten() {
		return false, errDeleted
	}
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
	res, pending, err := s.opts.Appender.Put(rec, appender.FromScheduler, r)
	if !pending {
		r.copyAt = res.CommitLogOffset // otherwise PutDone has it, maybe by now
	}
	if err != nil && redeliver.Permanent(err) {
		return false, s.opts.Park.Park(rec, "pop", err.Error())
	}
	return pending, err
}

// PutDone implements store.Completion.
func (r *revival) PutDone(res store.PutResult) {
	r.copyAt = res.CommitLogOffset
	r.finish(appender.Refusal(res))
}

// finish notes what became of the copy.
func (r *revival) finish(err error) {
	s := r.d.s
	switch {
	case err == nil && r.state&copied == 0:
		s.counts.revived(s.opts.Store.NowMillis() - r.due)
	case errors.Is(err, errGone):
		s.lost(r, err)
		err = nil
	case errors.Is(err, errDeleted):
		err = nil
	}
	if err = r.note(err); err != nil {
		s.refused(r, err)
	}
	if r.d.land() {
		s.driver.Wake()
	}
}

// note has the message end its flight, or, when its copy is not stored, or the journal cannot say so,
// go on with it. The error is why it does.
func (r *revival) note(failed error) error {
	w, d := r.w, r.d
	w.mu.Lock()
	defer w.mu.Unlock()
	e := w.held.find(r.offset)
	if e == nil || e.popTime != r.popTime || e.state&reviving == 0 || w.gone {
		return nil // it was popped again, or nobody is to have it any more
	}
	if failed != nil {
		e.state &^= reviving
		return failed
	}
	w.record.begin(w.id).int(r.offset).int(r.popTime).int(r.copyAt)
	if _, _, err := w.write(recordRevived, true); err != nil {
		if e.state = e.state&^reviving | copied; r.state&copied == 0 {
			d.owed.Add(1)
		}
		return err
	}
	if r.state&copied != 0 {
		d.owed.Add(-1)
	}
	w.end(r.offset)
	w.freed(w.held.n + 1)
	return nil
}
