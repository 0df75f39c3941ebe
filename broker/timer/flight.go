package timer

import (
	"errors"

	"github.com/wheelmq/wheelmq/broker/redeliver"
)

var errNotDurable = errors.New("timer: the copies of a batch are not durable")

// flight is a batch on its way: its copies are appended and not yet known to be stored for good.
type flight struct {
	redeliver.Flight
	line    *line
	sec     *second
	entries []int32 // of sec, whose copies are on their way
}

// begin makes a flight, and its second one that copies were made of, before the first is.
func (d *delivery) begin(l *line, sec *second) *flight {
	var f *flight
	if n := len(d.idle); n > 0 {
		f, d.idle = d.idle[n-1], d.idle[:n-1]
	} else {
		f = new(flight)
		f.Wake = d.wake
	}
	f.line, f.sec, f.entries = l, sec, f.entries[:0]
	f.Begin() // until launch
	if !sec.begun {
		sec.begun, sec.from = true, d.records.log.MaxCommitLogOffset()
	}
	return f
}

// launch ends the making of a flight. What is stored for good already does not wait.
func (d *delivery) launch(f *flight) {
	n := len(f.entries)
	f.sec.inFlight += n
	d.inFlight += n
	if f.Drop() {
		d.land(f)
		return
	}
	d.flights = append(d.flights, f)
}

// settle takes in the flights that everything is known of.
func (d *delivery) settle() {
	kept := d.flights[:0]
	for _, f := range d.flights {
		if !f.Landed() {
			kept = append(kept, f)
			continue
		}
		d.land(f)
	}
	clear(d.flights[len(kept):])
	d.flights = kept
}

// land ends a flight. A put that fails after it was accepted means a store that accepts nothing
// more until it is opened again, and then the copies that made it are recognised: its messages are
// pending again.
func (d *delivery) land(f *flight) {
	n := len(f.entries)
	f.sec.inFlight -= n
	d.inFlight -= n
	if f.Failed() {
		for _, i := range f.entries {
			f.sec.link(i)
		}
		d.state.loaded += n
		d.storing.refused(d.clock.NowMillis(), errNotDurable)
	} else {
		d.delivered.Add(int64(n))
	}
	f.line, f.sec = nil, nil
	d.idle = append(d.idle, f)
}
