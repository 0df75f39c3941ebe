package timer

import (
	"errors"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker/redeliver"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
	wheel "github.com/wheelmq/wheelmq/store/timer"
)

// enqueueBatch is how many records are taken in before others may look at the service.
const enqueueBatch = 256

// intake takes the records of the timer queue into the Timelines, and into the seconds that are in
// memory. Nobody else adds to either.
type intake struct {
	state   *state
	records *records
	looks   *looks
	parking *parking
	copy    *redeliver.Copier
	logger  logrus.FieldLogger
	// own tells whether what pends is this server's, and makes it so if need be.
	own func(now int64) bool

	units [enqueueBatch]store.Unit
	// rebuildTo is the unit of the timer queue up to which everything must be taken in before
	// anything is delivered: what was there when the service began.
	rebuildTo int64
	half      int64 // log offset of a superseding record whose message is taken in, its removal not; or nothing
	wait      wait
	aside     aside
	returning returning
	// readMs is the first slot, ms, of the real broker's wheel that it had not read when it left the
	// store; 0: it never was here.
	readMs int64
}

// catchUp takes in what is in the timer queue, and returns how many records it took in; between is
// called after each batch, unless it is nil. What comes meanwhile is for the next call.
func (i *intake) catchUp(now int64, between func()) (taken int) {
	q := i.records.queue()
	if now < i.wait.retryAt || !i.own(now) || q == nil {
		return 0
	}
	i.fit(q)
	i.retryReturning(now)
	taken = i.retryAside(now)
	for end := q.Max(); i.state.queueOffset < end; {
		n, err := i.takeBatch(q, end, now)
		taken += n
		if err != nil {
			i.refused(now, err)
			return taken
		}
		if n == 0 {
			return taken // the queue's beginning was deleted meanwhile
		}
		if between != nil {
			between()
		}
	}
	i.wait.ended()
	return taken
}

// enqueue is catchUp for one who does not hold the lock, and lets others have their turn.
func (i *intake) enqueue(now int64) (taken int) {
	i.state.mu.Lock()
	defer i.state.mu.Unlock()
	if i.state.closed {
		return 0
	}
	return i.catchUp(now, i.state.giveWay)
}

func (i *intake) refused(now int64, err error) {
	i.wait.refused(now, err)
	i.logger.WithError(err).WithField("refusals", i.wait.refusals).
		Log(i.wait.level(), "pending timer messages cannot be taken in and wait")
}

// rebuilds tells that it is not known yet what was delivered, or cancelled.
func (i *intake) rebuilds() bool { return i.state.queueOffset < i.rebuildTo }

// caughtUp tells that everything that is in the queue is taken in, and nothing by half.
func (i *intake) caughtUp() bool { return i.untaken() == 0 && !i.rebuilds() && i.half == nothing }

// untaken is how many records of the timer queue are not taken in.
func (i *intake) untaken() int64 {
	if q := i.records.queue(); q != nil {
		return max(0, q.Max()-max(i.state.queueOffset, q.Min())) + int64(len(i.aside.units))
	}
	return 0
}

// oldest is the log offset of the first record that is not taken in; never: there is none.
func (i *intake) oldest() int64 {
	oldest := never
	if q := i.records.queue(); q != nil {
		if u, ok := q.Unit(max(i.state.queueOffset, q.Min())); ok {
			oldest = u.CommitLogOffset
		}
	}
	if len(i.aside.units) > 0 {
		oldest = min(oldest, i.aside.units[0].CommitLogOffset)
	}
	for n := range i.returning.found {
		oldest = min(oldest, i.returning.found[n].item.LogOffset)
	}
	return oldest
}

// waitingMs is how long the first record of the queue that is not taken in has been there, ms.
func (i *intake) waitingMs(now int64) int64 {
	q := i.records.queue()
	if q == nil || i.state.queueOffset >= q.Max() {
		return 0
	}
	stored, ok := i.records.log.StoreTimestamp(q, i.state.queueOffset)
	if !ok {
		return 0
	}
	return max(0, now-stored)
}

// whole is nil when a unit of the queue says what is taken in and what is not: no checkpoint can say
// more.
func (i *intake) whole() error {
	if i.half != nothing {
		return errHalfTaken
	}
	if len(i.aside.units)+len(i.returning.found) > 0 {
		return errAside
	}
	return nil
}

// nextAt is when to take in again what was refused, ms of message time; never: nothing was.
func (i *intake) nextAt(now int64) (at int64) {
	at = never
	if i.wait.refusals > 0 {
		at = max(i.wait.retryAt, now+1)
	}
	if len(i.aside.units) > 0 {
		at = min(at, max(i.aside.wait.retryAt, now+1))
	}
	if len(i.returning.found) > 0 {
		at = min(at, max(i.returning.wait.retryAt, now+1))
	}
	return at
}

// fit corrects a place that the queue does not have: data was deleted under it.
func (i *intake) fit(q *store.ConsumeQueue) {
	lowest, highest := q.Min(), q.Max()
	if i.state.queueOffset >= lowest && i.state.queueOffset <= highest {
		return
	}
	i.logger.WithFields(logrus.Fields{"offset": i.state.queueOffset, "min": lowest, "max": highest}).
		Warn("the timer queue does not have the place that was reached: going on where it begins or ends")
	i.state.queueOffset = min(max(i.state.queueOffset, lowest), highest)
	i.state.progress++
}

func (i *intake) takeBatch(q *store.ConsumeQueue, end, now int64) (taken int, err error) {
	room := min(end-i.state.queueOffset, enqueueBatch)
	n, err := q.Units(i.state.queueOffset, i.units[:room])
	if err != nil {
		return 0, err
	}
	for ; taken < n; taken++ {
		if err := i.takeOne(&i.units[taken], now); err != nil && !i.setAside(&i.units[taken], now, err) {
			return taken, err
		}
		i.state.queueOffset++
		i.state.progress++
	}
	return taken, nil
}

// takeOne takes in one record. A nil error means that it is done with here.
func (i *intake) takeOne(u *store.Unit, now int64) (err error) {
	defer func() {
		if p := recover(); p != nil {
			i.records.lost(u.CommitLogOffset, store.FaultOf(p))
			err = nil
		}
	}()
	slice, err := i.records.log.Record(u.CommitLogOffset, u.Size)
	if err != nil {
		i.records.lost(u.CommitLogOffset, err)
		return nil
	}
	defer slice.Release()
	item := wheel.Item{Record: slice.Bytes}
	item.LogOffset, item.Size = u.CommitLogOffset, u.Size
	if taken, err := i.takeFirst(&item, now); taken || err != nil {
		return err
	}
	v, err := message.Parse(slice.Bytes)
	if err != nil {
		i.records.lost(u.CommitLogOffset, err)
		return nil
	}
	if i.rebuilds() && i.readByPeer(v.Properties) {
		return nil
	}
	p, reason := readPending(&v, i.records.precisionMs)
	if reason != "" {
		return i.poison(&v, u.CommitLogOffset, reason)
	}
	switch {
	case p.supersedes != nil:
		return holdsUp(i.takeSuperseding(&v, &p, &item, now))
	case p.cancels != nil:
		return i.takeCancel(&p, &item)
	}
	return i.takeMessage(&v, &p, &item, now)
}

// takeFirst takes in a message that has its pending properties first, as nearly all have, without a look at
// the rest of its record. It leaves the others, and what a Timeline calls invalid, to a closer look.
func (i *intake) takeFirst(item *wheel.Item, now int64) (taken bool, err error) {
	if i.rebuilds() {
		return false, nil
	}
	props, ok := message.PropertiesOf(item.Record)
	if !ok {
		return false, nil
	}
	due, realTopic, ok := message.PendingFirst(props)
	if !ok {
		return false, nil
	}
	err = i.takeDue(due, realTopic, item, now)
	if errors.Is(err, wheel.ErrInvalid) {
		return false, nil
	}
	return err == nil, err
}

// takeMessage takes in a message, or parks it when a Timeline calls it invalid.
func (i *intake) takeMessage(v *message.View, p *pendingRecord, item *wheel.Item, now int64) error {
	err := i.takeDue(p.due, p.realTopic, item, now)
	if errors.Is(err, wheel.ErrInvalid) {
		return i.poison(v, item.LogOffset, err.Error())
	}
	return err
}

// takeDue keeps a message for an instant, unless it was delivered already.
func (i *intake) takeDue(due message.Due, realTopic []byte, item *wheel.Item, now int64) error {
	if i.state.known.has(item.LogOffset) {
		return nil
	}
	item.Due = due.Ms
	if err := i.keep(i.state.lines.of(due), slotOf(due.Ms), item); err != nil {
		return err
	}
	i.state.topics.add(realTopic, now)
	i.state.topics.last.took(due.Ms - now)
	return nil
}

// readByPeer tells whether a record is one that the real broker accepted and delivered.
func (i *intake) readByPeer(props []byte) bool {
	if _, own := message.DueOf(props); own || i.readMs == 0 {
		return false
	}
	out, ok := message.TimerOutOf(props)
	return ok && out < i.readMs
}
