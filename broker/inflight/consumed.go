package inflight

import (
	"context"
	"fmt"
)

// Consumed is how many messages a group has consumed with success since the Tracker was made: it
// was given them, has finished with them and did not send them back; what it pops, it has
// acknowledged. One that comes again after it was sent back counts as another message. Clients that
// are online are nudged, so that they need not commit first. Of a queue a client has finished with
// what lies before the first message that it is at work on.
func (t *Tracker) Consumed(ctx context.Context, group string) (int64, error) {
	t.hearOf(ctx, group)
	if err := ctx.Err(); err != nil {
		return 0, fmt.Errorf("inflight: %w", err)
	}
	broadcast := false
	if online := t.opts.Clients.Group([]byte(group)); online != nil {
		broadcast = online.Broadcast()
	}
	// What is given out behind this look is not counted, and what was sent back until after the
	// last: a message on its way between the two is missing then, never one too many.
	var total int64
	for at, g := range t.progress(group) {
		if broadcast {
			total += g.broadcast
		} else {
			total += g.consumed(t.committed(at))
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return max(0, total+t.ackedBy(group)-t.sentBack[group]), nil
}

// hearOf brings what is known of a group up to date.
func (t *Tracker) hearOf(ctx context.Context, group string) {
	var work []Work
	for _, w := range t.unfinished() {
		if w.Group == group {
			work = append(work, w)
		}
	}
	t.nudge(ctx, work)
	t.ask(ctx, work)
}

// given is a place at one moment.
type given struct {
	next      int64
	messages  int64 // given out
	broadcast int64 // to all members together, and they have finished with them
}

func (t *Tracker) progress(group string) map[Place]given {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := make(map[Place]given)
	for at, p := range t.places {
		if at.Group != group {
			continue
		}
		g := given{next: p.next, messages: p.given, broadcast: p.left}
		for _, c := range p.chans {
			g.broadcast += max(0, c.given-max(0, c.next-c.done))
		}
		list[at] = g
	}
	return list
}

// consumed is how many of the messages a group has finished with that has finished below done.
func (g given) consumed(done int64) int64 {
	if done >= g.next {
		return g.messages
	}
	return max(0, g.messages-(g.next-done))
}
