package timer

import (
	"sort"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
	wheel "github.com/wheelmq/wheelmq/store/timer"
)

// eachQueued visits the records of the timer queue that lie in [from, to) of the log, before a unit of
// the queue, and can be read, while visit wants more: what damage has taken from the Timelines' files is
// looked for there.
func (r *records) eachQueued(from, to, before int64, visit func(item *wheel.Item, p *pendingRecord) (more bool)) {
	q := r.queue()
	if q == nil {
		return
	}
	at, end := q.Min(), min(q.Max(), before)
	at += int64(sort.Search(int(max(0, end-at)), func(i int) bool {
		u, ok := q.Unit(at + int64(i))
		return ok && u.CommitLogOffset >= from
	}))
	for ; at < end; at++ {
		u, ok := q.Unit(at)
		if !ok || u.CommitLogOffset >= to || !r.visitQueued(&u, visit) {
			return
		}
	}
}

func (r *records) visitQueued(u *store.Unit, visit func(item *wheel.Item, p *pendingRecord) (more bool)) (more bool) {
	more = true
	err := r.withRecord(u.CommitLogOffset, u.Size, nil, func(v *message.View) error {
		p, reason := readPending(v, r.precisionMs)
		if reason != "" {
			return nil // it was parked when it was taken out of the queue
		}
		item := wheel.Item{Entry: wheel.Entry{Due: p.due.Ms, LogOffset: u.CommitLogOffset, Size: u.Size}}
		if sup := p.supersedes; sup != nil {
			ref := item
			ref.Flags, ref.LogOffset = wheel.CancelRef, item.LogOffset+refOffset
			if more = visit(&ref, &p); sup.Generation == 0 || !more {
				return nil
			}
			p.supersedes = nil
		}
		if p.cancels != nil {
			item.Flags = wheel.Cancel
		}
		more = visit(&item, &p)
		return nil
	})
	if err != nil {
		r.unread(u.CommitLogOffset, err)
	}
	return more
}
