package admin

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/wheelmq/wheelmq/remoting"
)

// followWait is how long a broker holds a pull of Follow.
const followWait = 15 * time.Second

// Tail says which messages of a topic are read.
type Tail struct {
	Topic   string
	QueueID int32 // negative: all queues
	Filter  Filter
	Last    int   // how many of the last messages
	SinceMs int64 // unless 0: all that was stored since this instant instead, ms since the epoch
}

// end is where the reading of one queue goes on.
type end struct {
	broker Broker
	queue  Queue
	at     int64
}

// Ends are where Follow goes on behind Last.
type Ends []end

// Last shows the last messages of a topic as they were stored.
func (c *Client) Last(ctx context.Context, t *Tail, show func(*Message) error) (Ends, error) {
	ends, err := c.ends(ctx, t)
	if err != nil {
		return nil, err
	}
	var found []Message
	for i := range ends {
		list, err := c.lastOf(ctx, t, &ends[i])
		if err != nil {
			return nil, err
		}
		found = append(found, list...)
	}
	found = inOrder(found)
	if t.SinceMs == 0 && len(found) > t.Last {
		found = found[len(found)-t.Last:]
	}
	for i := range found {
		if err := show(&found[i]); err != nil {
			return nil, err
		}
	}
	return ends, nil
}

// ends are the queues of a topic with their ends.
func (c *Client) ends(ctx context.Context, t *Tail) (list Ends, err error) {
	route, err := c.Route(ctx, t.Topic)
	if err != nil {
		return nil, err
	}
	for _, b := range route.Brokers {
		queues, err := c.queuesOf(ctx, b, t.Topic)
		if err != nil {
			return nil, err
		}
		for _, q := range queues {
			if t.QueueID < 0 || q.ID == t.QueueID {
				list = append(list, end{b, q, q.Max})
			}
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("admin: queue %d of topic %q: %w", t.QueueID, t.Topic, ErrNotFound)
	}
	return list, nil
}

// lastOf reads back from a queue's end, further and further until enough messages pass the filter.
func (c *Client) lastOf(ctx context.Context, t *Tail, e *end) ([]Message, error) {
	if t.SinceMs != 0 {
		from, err := c.offsetAt(ctx, e.broker, t.Topic, e.queue.ID, t.SinceMs)
		if err != nil {
			return nil, err
		}
		return c.readQueue(ctx, t, e, from)
	}
	for back := int64(t.Last); ; back *= 4 {
		from := max(e.queue.Min, e.queue.Max-back)
		list, err := c.readQueue(ctx, t, e, from)
		if err != nil || len(list) >= t.Last || from == e.queue.Min {
			return list[max(0, len(list)-t.Last):], err
		}
	}
}

// readQueue reads from an offset up to the end.
func (c *Client) readQueue(ctx context.Context, t *Tail, e *end, from int64) (list []Message, err error) {
	for from < e.queue.Max {
		got, err := c.Pull(ctx, e.broker, Pull{Topic: t.Topic, Queue: e.queue, From: from, Filter: t.Filter})
		if err != nil {
			return nil, err
		}
		for _, m := range got.Messages {
			if m.QueueOffset < e.queue.Max {
				list = append(list, m)
			}
		}
		if got.Next <= from {
			break
		}
		from = got.Next
	}
	return list, nil
}

// Follow shows what comes behind the ends, as it comes, until ctx ends or a broker refuses. One that does
// not answer is asked again.
func (c *Client) Follow(ctx context.Context, t *Tail, ends Ends, show func(*Message) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex // one message at a time
	inTurn := func(m *Message) error {
		mu.Lock()
		defer mu.Unlock()
		return show(m)
	}
	var all sync.WaitGroup
	for i := range ends {
		all.Go(func() {
			if err := c.follow(ctx, t, &ends[i], inTurn); err != nil {
				cancel(err)
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

func (c *Client) follow(ctx context.Context, t *Tail, e *end, show func(*Message) error) error {
	for ctx.Err() == nil {
		got, err := c.Pull(ctx, e.broker, Pull{Topic: t.Topic, Queue: e.queue, From: e.at, Filter: t.Filter, Wait: followWait})
		var gone *UnreachableError
		if errors.As(err, &gone) || hasCode(err, remoting.SystemBusy) {
			if !c.rest(ctx) {
				return nil
			}
			continue
		}
		if err != nil {
			return err
		}
		for i := range got.Messages {
			if err := show(&got.Messages[i]); err != nil {
				return err
			}
		}
		e.at = got.Next
	}
	return nil
}
