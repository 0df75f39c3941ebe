package timer

import (
	"fmt"

	appender "github.com/wheelmq/wheelmq/broker/append"
)

// putter puts one group while the driver makes the next: no more than one is on its way, so that their
// order is the log's. It belongs to the driver.
type putter struct {
	appender Appender

	groups [2]group
	making *group // where copies are collected
	other  *group
	under  bool // other is being put
	asks   chan *flight
	done   chan put
}

// put is what became of a group.
type put struct {
	stored  int
	pending bool
	err     error
}

func (p *putter) init(to Appender) {
	p.appender = to
	p.making, p.other = &p.groups[0], &p.groups[1]
	p.asks, p.done = make(chan *flight), make(chan put, 1)
}

// run puts groups until the driver ends.
func (p *putter) run() {
	for f := range p.asks {
		p.done <- p.put(p.other, f)
	}
}

// end ends run: nothing is handed over any more.
func (p *putter) end() { close(p.asks) }

func (p *putter) put(g *group, f *flight) (got put) {
	got.stored, got.pending, got.err = p.appender.PutGroup(&g.records, f)
	return got
}

// handOver has the copies that are collected put by the putter, when it has put those before. The error
// is why these are not in the log; nothing is handed over then.
func (d *delivery) handOver(f *flight) error {
	p := &d.putter
	if all, err := d.awaitPut(f); !all || len(p.making.copies) == 0 {
		return err
	}
	f.Add()
	p.making, p.other, p.under = p.other, p.making, true
	p.asks <- f
	return nil
}

// putGroup puts the copies that are collected, as part of a flight, when those before are put. When it
// returns none is on its way to the log. What the store refuses is due again; all is false then, and
// the error says why, unless that is about one topic only.
func (d *delivery) putGroup(f *flight) (all bool, err error) {
	p := &d.putter
	if all, err = d.awaitPut(f); !all || len(p.making.copies) == 0 {
		return all, err
	}
	f.Add()
	return d.took(f, p.making, p.put(p.making, f))
}

// awaitPut waits for the group that is being put. When the store has refused a part of it, what is
// collected behind is not put either.
func (d *delivery) awaitPut(f *flight) (all bool, err error) {
	p := &d.putter
	if !p.under {
		return true, nil
	}
	p.under = false
	if all, err = d.took(f, p.other, <-p.done); !all {
		d.relink(f, p.making.copies)
		p.making.reset()
	}
	return all, err
}

// putHeld puts the only copy that is collected, of a message that waits for its target. When the store
// refuses it, it waits on.
func (d *delivery) putHeld(f *flight) error {
	f.Add()
	g := d.putter.making
	got := d.putter.put(g, f)
	g.copies = g.copies[:got.stored]
	_, err := d.took(f, g, got)
	return err
}

// took takes in what became of a group. A message whose topic is being deleted waits for that alone, and
// those behind it are due again.
func (d *delivery) took(f *flight, g *group, got put) (all bool, err error) {
	if !got.pending {
		f.Drop()
	}
	d.sent(f, g.copies[:got.stored])
	rest := g.copies[got.stored:]
	all = got.err == nil
	if len(rest) > 0 && appender.Leaves(got.err) {
		d.hold(f, &rest[0], got.err)
		got.err, rest = nil, rest[1:]
	}
	d.relink(f, rest)
	g.reset()
	if got.err != nil {
		return false, fmt.Errorf("timer: deliver: %w", got.err)
	}
	return all, nil
}

// hold has a message wait for its target, which has refused its copy.
func (d *delivery) hold(f *flight, c *collected, refusal error) {
	d.held.push(c.topic.name, heldEntry{f.line, f.sec, c.entry}, d.clock.NowMillis(), refusal)
	f.sec.held++
}

// relink makes messages due again whose copies are not in the log.
func (d *delivery) relink(f *flight, copies []collected) {
	for _, c := range copies {
		f.sec.link(c.entry)
		d.state.loaded++
	}
}
