package timer

import (
	"slices"

	"github.com/sirupsen/logrus"

	appender "github.com/wheelmq/wheelmq/broker/append"
)

// heldEntry is a due message that waits for its target.
type heldEntry struct {
	line *line
	sec  *second
	i    int32
}

// heldTopic is a target that refuses what the store would take, and what is due to it, in order.
type heldTopic struct {
	wait
	name    string
	entries []heldEntry
}

// heldTopics are the targets that refuse.
type heldTopics struct {
	topics map[string]*heldTopic
	order  []*heldTopic // as they began to refuse
	trying *heldTopic   // is tried again: what is due to it is not kept waiting
}

func (h *heldTopics) init() { h.topics = make(map[string]*heldTopic) }

// blocks tells whether what is due to a topic must wait behind others.
func (h *heldTopics) blocks(topicName string) bool {
	if len(h.topics) == 0 {
		return false
	}
	t := h.topics[topicName]
	return t != nil && t != h.trying
}

// push makes a message wait for its target, which has refused it unless refusal is nil.
func (h *heldTopics) push(topicName string, e heldEntry, now int64, refusal error) {
	t := h.topics[topicName]
	if t == nil {
		t = &heldTopic{name: topicName}
		h.topics[topicName] = t
		h.order = append(h.order, t)
	}
	if refusal != nil {
		t.refused(now, refusal)
	}
	t.entries = append(t.entries, e)
}

// has tells whether an entry of a second waits for its target.
func (h *heldTopics) has(sec *second, i int32) bool {
	for _, t := range h.order {
		if slices.ContainsFunc(t.entries, func(e heldEntry) bool { return e.sec == sec && e.i == i }) {
			return true
		}
	}
	return false
}

// of visits the entries of a second that wait for their targets.
func (h *heldTopics) of(sec *second, visit func(e *entry)) {
	for _, t := range h.order {
		for _, e := range t.entries {
			if e.sec == sec {
				visit(&sec.entries[e.i])
			}
		}
	}
}

// firstOf is when the first message of a line was due that waits for its target, ms; never: none does.
func (h *heldTopics) firstOf(l *line) int64 {
	first := never
	for _, t := range h.order {
		if len(t.entries) == 0 {
			continue
		}
		if e := &t.entries[0]; e.line == l {
			first = min(first, e.sec.dueOf(&e.sec.entries[e.i]))
		}
	}
	return first
}

// waiting is how many due messages wait for targets that refuse.
func (h *heldTopics) waiting() (n int64) {
	for _, t := range h.order {
		n += int64(len(t.entries))
	}
	return n
}

// nextTry is when to try a target again, ms of message time; never: none refuses.
func (h *heldTopics) nextTry(now int64) int64 {
	next := never
	for _, t := range h.order {
		next = min(next, max(t.retryAt, now))
	}
	return next
}

// retryHeld tries targets again whose time has come. The error is the store's refusal.
func (d *delivery) retryHeld(now int64) error {
	for n := 0; n < len(d.held.order); n++ {
		t := d.held.order[n]
		if now >= t.retryAt {
			if err := d.retryTopic(t, now); err != nil {
				return err
			}
		}
		if len(t.entries) == 0 {
			if t.blocked() != "" {
				d.logger.WithField("topic", t.name).Info("a target takes due timer messages again")
			}
			delete(d.held.topics, t.name)
			d.held.order = append(d.held.order[:n], d.held.order[n+1:]...)
			n--
		}
	}
	return nil
}

// retryTopic delivers at most a batch of what waits for a target. The error is the store's refusal.
func (d *delivery) retryTopic(t *heldTopic, now int64) error {
	d.held.trying = t
	defer func() { d.held.trying = nil }()
	for n := 0; n < batch && len(t.entries) > 0; n++ {
		switch out, err := d.retryOne(t.entries[0], now); out {
		case refused:
			return err
		case waiting:
			t.refused(now, err)
			d.logger.WithFields(logrus.Fields{"topic": t.name, "reason": t.reason, "messages": len(t.entries)}).
				Log(t.level(), "a target refuses due timer messages: they wait")
			return nil
		}
		t.entries[0].sec.held--
		t.entries = t.entries[1:]
	}
	t.refusals = 0
	return nil
}

// retryOne delivers a message that waits.
func (d *delivery) retryOne(h heldEntry, now int64) (out fate, err error) {
	f := d.begin(h.line, h.sec)
	defer d.launch(f)
	e := &h.sec.entries[h.i]
	if out, err = d.deliver(h.sec, e); out != sent {
		return out, err
	}
	d.putter.making.made(h.i, max(h.line.now(now)-h.sec.dueOf(e), 0))
	switch err = d.putHeld(f); {
	case appender.Leaves(err):
		return waiting, err
	case err != nil:
		return refused, err
	}
	return sent, nil
}
