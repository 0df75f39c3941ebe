package timer

import (
	"github.com/sirupsen/logrus"
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

// retryHeld tries targets again whose time has come, and returns when to try next.
func (s *Service) retryHeld(now int64) (next int64, err error) {
	next = never
	for n := 0; n < len(s.held.order); n++ {
		t := s.held.order[n]
		if now >= t.retryAt {
			if err := s.retryTopic(t, now); err != nil {
				return next, err
			}
		}
		if len(t.entries) == 0 {
			if t.blocked() != "" {
				s.opts.Logger.WithField("topic", t.name).Info("a target takes due timer messages again")
			}
			delete(s.held.topics, t.name)
			s.held.order = append(s.held.order[:n], s.held.order[n+1:]...)
			n--
			continue
		}
		next = min(next, max(t.retryAt, now))
	}
	return next, nil
}

// retryTopic delivers at most a batch of what waits for a target. The error is the store's refusal.
func (s *Service) retryTopic(t *heldTopic, now int64) error {
	s.held.trying = t
	defer func() { s.held.trying = nil }()
	for n := 0; n < batch && len(t.entries) > 0; n++ {
		switch out, err := s.retryOne(t.entries[0], now); out {
		case refused:
			return err
		case waiting:
			t.refused(now, err)
			s.opts.Logger.WithFields(logrus.Fields{"topic": t.name, "reason": t.reason, "messages": len(t.entries)}).
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
func (s *Service) retryOne(h heldEntry, now int64) (out fate, err error) {
	f := s.begin(h.line, h.sec)
	defer s.launch(f)
	e := &h.sec.entries[h.i]
	if out, err = s.deliver(h.sec, e); out != sent {
		return out, err
	}
	s.worker.putter.making.made(h.i, max(s.nowOf(h.line, now)-h.sec.dueOf(e), 0))
	if err = s.putHeld(f); err != nil {
		out = refused
	}
	return out, err
}
