package inflight

import (
	"context"
	"fmt"

	"github.com/wheelmq/wheelmq/broker/client"
	"github.com/wheelmq/wheelmq/broker/filter"
	"github.com/wheelmq/wheelmq/broker/topic"
)

// Busy lists what consumers have not finished with, nothing when there is no such thing: every
// group that is online and has its messages pushed (CONSUME_PASSIVELY) has finished with every
// message that it subscribes to. Groups that pull when they like are not waited for, nor are
// those that are switched off. A client of a group that broadcasts has finished when it holds
// nothing; a Go client there, which is not asked, when it was given everything.
func (t *Tracker) Busy(ctx context.Context) ([]Work, error) {
	for asked := false; ; {
		grown := t.opts.Store.MaxCommitLogOffset()
		work := t.unfinished()
		if len(work) == 0 {
			// What is finished was looked at one after the other: a message that came meanwhile
			// may have come to what was looked at first.
			if t.opts.Store.MaxCommitLogOffset() == grown {
				return nil, nil
			}
		} else if asked {
			return work, nil
		} else {
			t.nudge(ctx, work)
			t.ask(ctx, work)
			asked = true
		}
		if err := ctx.Err(); err != nil {
			return work, fmt.Errorf("inflight: %w", err)
		}
	}
}

// unfinished lists by what is known who is behind, without asking anybody.
func (t *Tracker) unfinished() (work []Work) {
	for _, name := range t.opts.Clients.Groups("") {
		group := t.waitedFor(name)
		if group == nil {
			continue
		}
		for _, s := range group.Subscriptions() {
			config := t.opts.Topics.Get([]byte(s.Topic))
			if config == nil || config.Perm&topic.PermRead == 0 || s.Err != nil {
				continue
			}
			for queueID := range config.ReadQueueNums {
				work = t.behind(work, group, s.Filter, Place{name, s.Topic, queueID})
			}
		}
		work = t.held(t.comesBack(work, name, group), name, group)
	}
	return work
}

// waitedFor is a group that is online and whose messages are pushed to it, or nil.
func (t *Tracker) waitedFor(name string) *client.ConsumerGroup {
	group := t.opts.Clients.Group([]byte(name))
	if group == nil || group.ConsumeType != client.ConsumePassively {
		return nil
	}
	if config := t.opts.Groups.Get(name); config != nil && !config.ConsumeEnable {
		return nil
	}
	return group
}

// behind appends what a group has not finished with in one queue.
func (t *Tracker) behind(work []Work, group *client.ConsumerGroup, wanted *filter.Filter, at Place) []Work {
	if !group.Broadcast() {
		done := t.committed(at)
		if end := t.end(at, done, wanted); end > done && !t.passed(at, done, end) {
			work = append(work, t.describe(Work{Place: at, Done: done, End: end}, group))
		}
		return work
	}
	for _, m := range group.Members {
		done := t.finished(at, m.Conn.ID())
		if end := t.end(at, done, wanted); end > done {
			work = append(work, Work{Place: at, ClientID: m.ClientID, Done: done, Given: end, End: end, broadcast: true, conn: m.Conn.ID()})
		}
	}
	return work
}

// passed tells whether a client waits at the end of a queue that was given nothing it has not
// finished with: it began behind all that is there and has nothing to commit.
func (t *Tracker) passed(at Place, done, end int64) bool {
	t.mu.Lock()
	p := t.places[at]
	given := p != nil && p.next > done
	t.mu.Unlock()
	if p == nil || given {
		return false
	}
	for _, h := range t.opts.Polls.Held(at.Topic, at.QueueID) {
		if h.Group == at.Group && h.Offset >= end {
			return true
		}
	}
	return false
}

// describe adds who pulled last.
func (t *Tracker) describe(w Work, group *client.ConsumerGroup) Work {
	t.mu.Lock()
	p := t.places[w.Place]
	if p != nil {
		w.Given, w.conn = p.next, p.owner
	}
	t.mu.Unlock()
	for _, m := range group.Members {
		if p != nil && m.Conn.ID() == w.conn {
			w.ClientID = m.ClientID
		}
	}
	return w
}
