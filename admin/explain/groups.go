package explain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/wheelmq/wheelmq/admin"
	"github.com/wheelmq/wheelmq/broker/filter"
	"github.com/wheelmq/wheelmq/message"
)

// inTopic tells of a message that is in its topic: what each group made of it.
func (t *teller) inTopic(ctx context.Context) error {
	names, err := t.c.Readers(ctx, t.h.topic)
	if err != nil && !errors.Is(err, admin.ErrNotFound) {
		return err
	}
	for _, group := range t.groups(names) {
		g, err := t.group(ctx, group)
		if err != nil {
			return err
		}
		t.e.Groups = append(t.e.Groups, g)
	}
	t.conclude()
	return nil
}

// groups are those that read the topic, and those that copies were made for.
func (t *teller) groups(readers []string) []string {
	for group := range t.h.retries {
		readers = append(readers, group)
	}
	for group := range t.h.dead {
		readers = append(readers, group)
	}
	if group := t.h.failedGroup(); group != "" {
		readers = append(readers, group)
	}
	slices.Sort(readers)
	return slices.Compact(readers)
}

// conclude makes the message's state of its groups'.
func (t *teller) conclude() {
	v := t.h.visible
	where := ""
	if v != nil {
		t.e.State = Stored
		where = fmt.Sprintf("is in queue %d of %s at offset %d", v.QueueID, v.Broker, v.QueueOffset)
		t.e.Sentence = where + ", and no group reads its topic"
	}
	best := 0
	for _, g := range t.e.Groups {
		if rank[g.State] > best {
			best = rank[g.State]
			t.e.State, t.e.DueMs = g.State, g.DueMs
			t.e.Sentence = "group " + g.Group + " " + g.Says
			if g.State == Stored {
				t.e.Sentence = where + ": " + t.e.Sentence
			}
		}
	}
}

func (t *teller) gaveUp(group string, m *admin.Message) Group {
	return Group{Group: group, State: Dead, AtMs: m.StoreMs, Says: fmt.Sprintf("gave it up at %s, after %d retries: it is in %s, queue %d, offset %d",
		instant(m.StoreMs), m.ReconsumeTimes, m.Topic, m.QueueID, m.QueueOffset)}
}

// group tells what one group made of the message.
func (t *teller) group(ctx context.Context, name string) (Group, error) {
	if m := t.h.dead[name]; m != nil {
		return t.gaveUp(name, m), nil
	}
	if t.h.failedGroup() == name {
		return t.comesAgain(ctx, name)
	}
	lag, err := t.c.Lag(ctx, name)
	if err != nil {
		return Group{}, err
	}
	if m := t.h.retries[name]; m != nil {
		return t.at(ctx, name, m, &lag)
	}
	return t.at(ctx, name, t.h.visible, &lag)
}

// comesAgain tells of a retry that waits for its time.
func (t *teller) comesAgain(ctx context.Context, name string) (Group, error) {
	w := t.h.waiting
	d, err := t.delaysOf(ctx, w.Broker)
	if err != nil {
		return Group{}, err
	}
	says, due := waitsUntil(w, d, t.now)
	return Group{Group: name, State: Retried, DueMs: due, Says: fmt.Sprintf("failed at it %s and is given it again: %s", times(w.ReconsumeTimes), says)}, nil
}

func times(n int32) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// at tells of the record that a group is to consume, or was: the message itself, or its last retry.
func (t *teller) at(ctx context.Context, name string, m *admin.Message, lag *admin.GroupLag) (Group, error) {
	g := Group{Group: name}
	f, inFlight, known, err := t.c.Flight(ctx, t.brokers[m.Broker], name, m)
	if err != nil {
		return g, err
	}
	if inFlight {
		g.State, g.DueMs = InFlight, f.DueMs
		g.Says = fmt.Sprintf("was given it by a pop at %s and has not acknowledged it: visible again %s, %s", instant(f.PopMs), instant(f.DueMs), until(f.DueMs, t.now))
		return g, nil
	}
	details, err := t.c.Group(ctx, name)
	if err != nil && !errors.Is(err, admin.ErrNotFound) {
		return g, err
	}
	unwanted, why := t.unwanted(&details, m)
	row := rowOf(lag, m)
	passed := row != nil && row.Committed > m.QueueOffset
	switch {
	case unwanted:
		g.State, g.Says = Filtered, "does not want it: "+why
		return g, nil
	case details.MessageModel == "BROADCASTING":
		g.State, g.Says = Stored, "broadcasts: each of its members keeps its own offset, which no broker knows"
		return g, nil
	case passed && !known && details.ConsumeType == "CONSUME_POP":
		g.State, g.Says = Consumed, "was given it by a pop; whether it has acknowledged it, this broker does not tell"
		return g, nil
	case passed:
		return t.consumed(ctx, g, m)
	}
	g.State, g.Says = Stored, t.comes(&details, row, m)
	if m != t.h.visible {
		g.State = Retried
		g.Says = fmt.Sprintf("failed at it %s; the next attempt is in its retry topic and %s", times(m.ReconsumeTimes), g.Says)
	}
	return g, nil
}

// comes says how far a group is from a record.
func (t *teller) comes(g *admin.Group, row *admin.QueueLag, m *admin.Message) string {
	before := m.QueueOffset
	if row != nil {
		before -= row.Committed
	}
	says := fmt.Sprintf("has %d messages of its queue to consume before it", before)
	if before == 0 {
		says = "has it to consume next in its queue"
	}
	switch {
	case !g.Consuming && g.Name != "":
		return says + "; the group is switched off"
	case len(g.Members) == 0:
		return says + "; none of its members is online"
	}
	return says
}

func rowOf(lag *admin.GroupLag, m *admin.Message) *admin.QueueLag {
	for i := range lag.Queues {
		if q := &lag.Queues[i]; q.Topic == m.Topic && q.Broker == m.Broker && q.QueueID == m.QueueID {
			return q
		}
	}
	return nil
}

// consumed tells when, where a trace does.
func (t *teller) consumed(ctx context.Context, g Group, m *admin.Message) (Group, error) {
	g.State, g.Says = Consumed, "has consumed it: its offset is past it"
	traces, err := t.c.Consumptions(ctx, m.MsgID)
	if err != nil {
		return g, err
	}
	for _, c := range traces {
		if c.Group == g.Group {
			g.AtMs = cmp.Or(max(g.AtMs, c.AtMs), g.AtMs)
			g.Says = "consumed it at " + instant(g.AtMs)
		}
	}
	if m.ReconsumeTimes > 0 {
		g.Says += fmt.Sprintf(", after %d retries", m.ReconsumeTimes)
	}
	return g, nil
}

// unwanted tells whether a group's subscription leaves a message out.
func (t *teller) unwanted(g *admin.Group, m *admin.Message) (bool, string) {
	for _, s := range g.Subscriptions {
		if s.Topic != m.Topic {
			continue
		}
		f, err := filter.Compile(s.Type, s.Text)
		if err != nil {
			return false, ""
		}
		if !f.IsAll() && (!f.Match(message.TagsHash([]byte(m.Tags))) || f.ByProperties() && !wants(f, m)) {
			return true, fmt.Sprintf("its tags are %q, the group subscribes to %s %q", m.Tags, cmp.Or(s.Type, filter.TypeTag), s.Text)
		}
	}
	return false, ""
}

// wants evaluates an SQL92 expression.
func wants(f *filter.Filter, m *admin.Message) bool {
	rec := message.Record{Topic: m.Topic}
	for name, value := range m.Properties {
		rec.Properties = message.PropertyAppend(rec.Properties, name, value)
	}
	record := make([]byte, message.EncodedLen(&rec))
	message.Encode(record, &rec)
	return f.MatchRecord(record)
}
