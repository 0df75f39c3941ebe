package timer

import (
	"errors"

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
func (d *delivery) deliverDue(l *line, sec *second, until int64) error {
	f := d.begin(l, sec)
	defer d.launch(f)
	err := d.collectDue(l, sec, until, f)
	_, failed := d.putGroup(f)
	return errors.Join(err, failed)
}

// collectDue collects copies for a flight, and puts what is collected whenever there is enough.
func (d *delivery) collectDue(l *line, sec *second, until int64, f *flight) error {
	for range min(batch, maxInFlight-d.inFlight) {
		e := sec.first()
		if e == nil || sec.dueOf(e) > until {
			break
		}
		late := max(until-sec.dueOf(e), 0)
		out, err := d.deliver(sec, e)
		switch out {
		case refused:
			return err
		case waiting:
			// Those before it are in its topic, or still before it.
			if all, err := d.putGroup(f); err != nil {
				return err
			} else if !all {
				continue
			}
		}
		i := sec.pop()
		d.state.loaded--
		switch out {
		case sent:
			if d.putter.making.made(i, late) {
				if err := d.handOver(f); err != nil {
					return err
				}
			}
		case waiting:
			d.held.push(d.copy.Record.Topic, heldEntry{l, sec, i}, d.clock.NowMillis(), err)
			sec.held++
		}
	}
	return nil
}

// deliver collects the copy of a due message for its real topic, as part of a flight.
func (d *delivery) deliver(sec *second, e *entry) (out fate, err error) {
	defer func() {
		if p := recover(); p != nil {
			out, err = d.missing(sec, e, store.FaultOf(p))
		}
	}()
	kept := e.bytes()
	if kept == nil {
		slice, err := d.records.log.Record(e.logOffset, e.size)
		if err != nil {
			return d.missing(sec, e, err)
		}
		defer slice.Release()
		kept = slice.Bytes
	}
	v, err := message.Parse(kept)
	if err != nil {
		return d.missing(sec, e, err)
	}
	return d.deliverView(&v, sec, e)
}

func (d *delivery) deliverView(v *message.View, sec *second, e *entry) (fate, error) {
	c := d.copy
	reason := c.Make(v, e.logOffset)
	count := d.state.topics.of(c.Record.Topic)
	switch {
	case d.state.known.has(e.logOffset):
		d.count(count, sec)
		return gone, nil
	case sec.hasCancels() && d.records.isCancelled(sec, e, v):
		d.cancelled.Add(1)
		d.countRemoved(count, sec, e)
		return gone, nil
	case reason == "" && d.held.blocks(c.Record.Topic):
		return waiting, nil
	}
	if reason == "" {
		g := d.putter.making
		full, err := d.appender.Collect(&g.records, &c.Record, appender.FromScheduler)
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
	if err := d.parking.put(&c.Record, reason); err != nil {
		return refused, err
	}
	return d.gone(count, sec), nil
}

// missing ends a message whose record cannot be read, unless that is in a file of far ones and the log
// has it, too.
func (d *delivery) missing(sec *second, e *entry, err error) (fate, error) {
	if e.record != nil {
		e.record = nil
		return d.deliver(sec, e)
	}
	if d.state.known.has(e.logOffset) {
		return gone, nil
	}
	d.records.lost(e.logOffset, err)
	return d.gone(nil, sec), nil
}

// gone notes a message that came due and has no copy on its way.
func (d *delivery) gone(count *topicCount, sec *second) fate {
	d.delivered.Add(1)
	d.count(count, sec)
	return gone
}

// countRemoved is count for a message that something removes.
func (d *delivery) countRemoved(t *topicCount, sec *second, e *entry) {
	if sec.removedByRef(e) {
		t = nil
	}
	d.count(t, sec)
}

// count takes a message out of the pending ones of its topic, nil when that is not known. A
// checkpoint has it as pending until its second is done.
func (d *delivery) count(t *topicCount, sec *second) { d.countMany(t, sec, 1) }

func (d *delivery) countMany(t *topicCount, sec *second, n int64) {
	d.state.progress += n
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
