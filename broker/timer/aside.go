package timer

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/store"
	"github.com/wheelmq/wheelmq/store/region"
	wheel "github.com/wheelmq/wheelmq/store/timer"
)

// maxAside bounds how many records are set aside; one more holds up what comes behind it.
const maxAside = 1 << 16

// aside are records of the timer queue for which, being due in hours or days, the disk has no room.
// What comes behind them is taken in meanwhile: it may be due before, and what is due soon needs no room.
// What is far goes aside too, as long as there are any: it is kept in the order of the log. No checkpoint
// is made until all are taken in, since it could not say what is and what is not.
type aside struct {
	units    []store.Unit
	wait     wait
	retrying bool
}

var (
	// errAside is no failure of a Close: the start after it reads more of the queue.
	errAside = fmt.Errorf("timer: messages wait to be taken in: %w", region.ErrNoSpace)
	// errFarRoom marks what can be set aside.
	errFarRoom = errors.New("timer: there is no room for what is due in hours or days")
)

// add keeps an entry in a slot of a line.
func (i *intake) add(l *line, slot int64, item *wheel.Item) error {
	far := slot >= l.t.NearEnd()
	if far && len(i.aside.units) > 0 && !i.aside.retrying {
		return errFarRoom
	}
	err := i.write(l, slot, item)
	if far && errors.Is(err, region.ErrNoSpace) {
		return errors.Join(errFarRoom, err)
	}
	return err
}

// write has the Timeline keep an entry. A file that cannot be written, because it was cut from outside or
// its disk fails, is left behind: the log has the record still, and the next file may take it.
func (i *intake) write(l *line, slot int64, item *wheel.Item) (err error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		fault := store.FaultOf(p)
		record, unread := copyRecord(item.Record)
		if unread != nil {
			panic(p) // the log fails
		}
		i.logger.WithError(fault).WithFields(logrus.Fields{"line": l.name, "second": slot}).
			Error("a file of pending timer messages cannot be written: another one takes them")
		l.t.Leave(slot)
		defer store.CatchFault(&err)
		err = l.t.Add(item.Entry, slot, record)
	}()
	return l.t.Add(item.Entry, slot, item.Record)
}

// copyRecord is a copy of a stored record, or why it cannot be read.
func copyRecord(b []byte) (record []byte, err error) {
	defer store.CatchFault(&err)
	return slices.Clone(b), nil
}

// holdsUp is an error of what cannot be set aside, of two entries that belong together.
func holdsUp(err error) error {
	if errors.Is(err, errFarRoom) {
		return errAside
	}
	return err
}

// setAside puts a record aside that could not be taken in, and tells whether it did.
func (i *intake) setAside(u *store.Unit, now int64, err error) bool {
	a := &i.aside
	if !errors.Is(err, errFarRoom) || len(a.units) >= maxAside {
		return false
	}
	if len(a.units) == 0 {
		i.refuseAside(now, err)
	}
	a.units = append(a.units, *u)
	return true
}

func (i *intake) refuseAside(now int64, err error) {
	w := &i.aside.wait
	w.refused(now, err)
	i.logger.WithError(err).WithField("refusals", w.refusals).
		Log(w.level(), "pending timer messages that are due in hours or days cannot be taken in and wait")
}

// retryAside takes in what was set aside, in its order, as far as there is room.
func (i *intake) retryAside(now int64) (taken int) {
	a := &i.aside
	if len(a.units) == 0 || now < a.wait.retryAt {
		return 0
	}
	a.retrying = true
	for ; taken < len(a.units); taken++ {
		if err := i.takeOne(&a.units[taken], now); err != nil {
			i.refuseAside(now, err)
			break
		}
		i.state.progress++
	}
	a.retrying = false
	if a.units = append(a.units[:0], a.units[taken:]...); len(a.units) == 0 {
		*a = aside{}
	}
	return taken
}
