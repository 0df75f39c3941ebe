package inflight

import (
	"github.com/wheelmq/wheelmq/broker/client"
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/message"
)

// pops are what a group was given by pops: its offsets pass a message that is handed out, and tell nothing of
// the work on it.
type pops struct {
	flights map[flight]popped
	acked   int64 // messages
}

// flight is a message that was popped; one that is popped again replaces it.
type flight struct {
	Place
	offset int64
}

// popped is who has it, under which handle. One that came back unacknowledged stays: it is not in flight any more.
type popped struct {
	conn    uint64 // 0: gone
	popTime int64
	back    bool // its consumer has set when it comes back, and is done with it
}

// Popped notes messages that are about to be handed out by a pop of an instant. Like the other methods about pops it
// may be called without a Tracker.
func (t *Tracker) Popped(at Place, conn uint64, popTime int64, offsets []int64) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.pops[at.Group]
	if p == nil {
		p = &pops{flights: make(map[flight]popped)}
		t.pops[at.Group] = p
	}
	for _, offset := range offsets {
		p.flights[flight{at, offset}] = popped{conn: conn, popTime: popTime}
	}
}

// Acked notes messages whose pop of an instant is acknowledged.
func (t *Tracker) Acked(at Place, popTime int64, offsets []int64) {
	if t == nil {
		return
	}
	t.mu.Lock()
	if p := t.pops[at.Group]; p != nil {
		for _, offset := range offsets {
			f := flight{at, offset}
			if p.flights[f].popTime == popTime {
				delete(p.flights, f)
				p.acked++
			}
		}
	}
	t.mu.Unlock()
	t.changed()
}

// PutOff notes a message that comes back when its consumer wants it to, and its new instant.
func (t *Tracker) PutOff(at Place, offset, popTime, now int64) {
	if t == nil {
		return
	}
	t.mu.Lock()
	if p := t.pops[at.Group]; p != nil {
		f := flight{at, offset}
		if one, ok := p.flights[f]; ok && one.popTime == popTime {
			one.popTime, one.back = now, true
			p.flights[f] = one
		}
	}
	t.mu.Unlock()
	t.changed()
}

// left notes that a connection is gone. t.mu is held.
func (p *pops) left(conn uint64) {
	for f, one := range p.flights {
		if one.conn == conn {
			one.conn = 0
			p.flights[f] = one
		}
	}
}

func (p *pops) forget(gone func(Place) bool) {
	for f := range p.flights {
		if gone(f.Place) {
			delete(p.flights, f)
		}
	}
}

// ackedBy is how many messages a group has acknowledged. t.mu is held.
func (t *Tracker) ackedBy(group string) int64 {
	if p := t.pops[group]; p != nil {
		return p.acked
	}
	return 0
}

// comesBack appends what a group that pops has not taken of what came back to it.
func (t *Tracker) comesBack(work []Work, name string, group *client.ConsumerGroup) []Work {
	t.mu.Lock()
	pops := t.pops[name] != nil
	t.mu.Unlock()
	if !pops {
		return work
	}
	for _, s := range group.Subscriptions() {
		for _, separator := range []string{"_", "+"} {
			retry := message.PrefixRetry + name + separator + s.Topic
			config := t.opts.Topics.Get([]byte(retry))
			if config == nil || config.Perm&topic.PermRead == 0 {
				continue
			}
			for queueID := range config.ReadQueueNums {
				work = t.behind(work, group, nil, Place{name, retry, queueID})
			}
		}
	}
	return work
}

// held appends what the clients of a group have popped and are at work on. It is to be looked at behind the offsets,
// which pass a message when it is handed out.
func (t *Tracker) held(work []Work, name string, group *client.ConsumerGroup) []Work {
	counts := make(map[Work]int64)
	for f, one := range t.flying(name) {
		if popTime, ok := t.opts.InFlight(f.Place, f.offset); ok && popTime == one.popTime {
			w := Work{Place: f.Place, conn: one.conn}
			for _, m := range group.Members {
				if m.Conn.ID() == one.conn {
					w.ClientID = m.ClientID
				}
			}
			counts[w]++
		}
	}
	for w, n := range counts {
		w.Popped = n
		work = append(work, w)
	}
	return work
}

// flying are the messages that clients have been given and have done nothing about.
func (t *Tracker) flying(group string) map[flight]popped {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.pops[group]
	if p == nil {
		return nil
	}
	all := make(map[flight]popped, len(p.flights))
	for f, one := range p.flights {
		if one.conn != 0 && !one.back {
			all[f] = one
		}
	}
	return all
}
