package timer

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
	wheel "github.com/wheelmq/wheelmq/store/timer"
)

// looks are those who read files without the lock.
type looks struct {
	state    *state
	records  *records
	ctx      context.Context // ends with the service
	reading  sync.WaitGroup  // none begins once the state is closed
	searches []*search
}

// search looks for a message in the files of its second, which may be a day's, and for what removes
// it. Nobody is held up meanwhile: what else comes to remove it is met as well.
type search struct {
	looks   *looks
	id      ID
	line    *line
	browser *wheel.Browser
	stored  *second // what the files have
	since   *second // what came since to remove messages
	err     error
}

// search begins to look for a message. The caller holds the lock.
func (k *looks) search(l *line, id ID) *search {
	f := &search{looks: k, id: id, line: l, stored: newSecond(id.Second), since: newSecond(id.Second)}
	f.browser = l.t.Browse(id.Second, id.Second+1)
	k.searches = append(k.searches, f)
	k.reading.Add(1)
	return f
}

// read goes through the files. It needs no lock.
func (f *search) read() {
	defer store.CatchFault(&f.err)
	for n := 0; f.browser != nil; n++ {
		if n&1023 == 0 && f.looks.ctx.Err() != nil {
			f.err = fmt.Errorf("%w: the server stops", ErrBusy)
			return
		}
		_, item, ok := f.browser.Next()
		if !ok {
			f.err = f.browser.Err()
			return
		}
		if item.Flags != 0 || item.LogOffset == f.id.CommitLogOffset {
			item.Record = slices.Clone(item.Record)
			f.take(&item)
		}
	}
}

// take takes in the message, or what may remove it.
func (f *search) take(item *wheel.Item) {
	if err := f.looks.records.place(f.stored, item); err != nil {
		f.looks.records.unread(item.LogOffset, err)
	}
}

// end lets go of the files, and looks in the log for what damage has taken. The caller holds the lock.
func (f *search) end() {
	k := f.looks
	defer k.reading.Done()
	k.searches = slices.DeleteFunc(k.searches, func(o *search) bool { return o == f })
	if f.browser == nil {
		return
	}
	for _, m := range f.browser.Missing() {
		k.records.eachQueued(m.From, m.To, k.state.queueOffset, func(item *wheel.Item, r *pendingRecord) bool {
			if k.state.belongs(f.line, f.stored, r) && (item.Flags != 0 || item.LogOffset == f.id.CommitLogOffset) {
				f.take(item)
			}
			return true
		})
	}
	f.browser.Close()
}

// found is the message unless something removes it. The caller holds the lock.
func (f *search) found() (got located, err error) {
	got.line = f.line
	at := slices.IndexFunc(f.stored.entries, func(e entry) bool { return e.logOffset == f.id.CommitLogOffset })
	if at < 0 {
		if f.err != nil {
			return got, fmt.Errorf("timer: look for message %s: %w", f.id, f.err)
		}
		return got, ErrNotPending
	}
	e, records := &f.stored.entries[at], f.looks.records
	if err := records.notCancelled(&got, f.stored, e); err != nil || !f.since.hasCancels() {
		return got, err
	}
	return got, records.withRecord(e.logOffset, e.size, got.item.Record, func(v *message.View) error {
		if records.isCancelled(f.since, e, v) {
			return ErrNotPending
		}
		return nil
	})
}

// meanwhile has whoever looks for messages of a second know what comes to remove one.
func (k *looks) meanwhile(l *line, number int64, add func(sec *second)) {
	for _, f := range k.searches {
		if f.line == l && f.id.Second == number {
			add(f.since)
		}
	}
}
