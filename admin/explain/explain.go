package explain

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/wheelmq/wheelmq/admin"
	"github.com/wheelmq/wheelmq/broker/park"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/message"
)

// Options say which message is meant.
type Options struct {
	ID    string                  // a client's, or that of one record
	Topic string                  // "": all are looked through
	Clock clock.Clock             // that due instants are compared with
	Show  func(done, total int64) // how far the search is
}

// teller collects what is to be said.
type teller struct {
	c       *admin.Client
	now     int64 // ms since the epoch
	brokers map[string]admin.Broker
	delays  map[string]*delays // by broker
	h       *history
	e       Explanation
}

// Explain finds a message and says what it is doing. admin.ErrNotFound is wrapped when nothing tells
// that it ever was.
func Explain(ctx context.Context, c *admin.Client, opts Options) (Explanation, error) {
	t := &teller{c: c, now: opts.Clock.NowMillis(), brokers: make(map[string]admin.Broker), delays: make(map[string]*delays)}
	list, err := c.Brokers(ctx)
	if err != nil {
		return t.e, err
	}
	for _, b := range list {
		t.brokers[b.Name] = b
	}
	records, err := c.Find(ctx, opts.ID, opts.Topic, opts.Show)
	if errors.Is(err, admin.ErrNotFound) {
		return t.expired(ctx, opts.ID, err)
	}
	if err != nil {
		return t.e, err
	}
	t.h = historyOf(records)
	t.e = Explanation{MsgID: records[0].MsgID, Topic: t.h.topic, Groups: []Group{}, Records: recordsOf(records)}
	err = t.tell(ctx)
	return t.e, err
}

// tell decides by the record that is farthest on its way.
func (t *teller) tell(ctx context.Context) error {
	h := t.h
	switch {
	case h.visible != nil:
		return t.inTopic(ctx)
	case h.parked != nil:
		t.e.State = Parked
		t.e.Sentence = fmt.Sprintf("was due, and was parked at %s: its topic refused it: %s; 'wheelmq parked' lists it unless it was dropped",
			instant(h.parked.StoreMs), h.parked.Properties[park.PropertyReason])
	case h.recall != nil && (h.waiting == nil || h.recall.StoreMs >= h.waiting.StoreMs):
		t.e.State, t.e.Sentence = Cancelled, "was cancelled at "+instant(h.recall.StoreMs)+", before its instant"
	case h.waiting != nil:
		return t.waits(ctx)
	case h.half != nil:
		return t.transaction(ctx)
	default:
		t.copiesOnly()
	}
	return nil
}

// waits tells of a message that waits for its first delivery.
func (t *teller) waits(ctx context.Context) error {
	w := t.h.waiting
	d, err := t.delaysOf(ctx, w.Broker)
	if err != nil {
		return err
	}
	t.e.State = Timer
	if w.Topic == message.TopicSchedule {
		t.e.State = Delayed
	}
	t.e.Sentence, t.e.DueMs = waitsUntil(w, d, t.now)
	return nil
}

// transaction tells of a half message without a copy in its topic.
func (t *teller) transaction(ctx context.Context) error {
	half := t.h.half
	group := half.Properties[message.PropertyProducerGroup]
	if t.h.givenUp != nil {
		t.e.State = GivenUp
		t.e.Sentence = fmt.Sprintf("its transaction was given up at %s: no producer of group %s said commit or rollback", instant(t.h.givenUp.StoreMs), group)
		return nil
	}
	ended, err := t.c.HalfEnded(ctx, t.brokers[half.Broker], half)
	if err != nil {
		return err
	}
	if ended {
		t.e.State, t.e.Sentence = RolledBack, fmt.Sprintf("its transaction was rolled back, sent at %s by group %s", instant(half.StoreMs), group)
		return nil
	}
	t.e.State = Half
	t.e.Sentence = fmt.Sprintf("its transaction is open since %s: group %s has said neither commit nor rollback", instant(half.StoreMs), group)
	if n, err := strconv.Atoi(half.Properties[message.PropertyCheckTimes]); err == nil && n > 0 {
		t.e.Sentence += fmt.Sprintf(", asked %d times", n)
	}
	return nil
}

// copiesOnly tells of a message of which retries or dead letters are left, whose own record was deleted.
func (t *teller) copiesOnly() {
	for group, m := range t.h.dead {
		t.e.Groups = append(t.e.Groups, t.gaveUp(group, m))
	}
	for group, m := range t.h.retries {
		if t.h.dead[group] == nil {
			t.e.Groups = append(t.e.Groups, Group{Group: group, State: Retried, Says: fmt.Sprintf("is given it again, its attempt %d", m.ReconsumeTimes+1)})
		}
	}
	t.conclude()
}
