package pop

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/message"
)

// recognise looks in the log for copies of messages that count as in flight: the server was killed
// before the journal said that they were brought back. Damage ends the search; what lies behind it
// may be delivered again.
func (r *recovery) recognise(from int64) error {
	byQueue := make(map[Key][]*Window) // without group
	for _, w := range r.s.all() {
		k := Key{Topic: w.key.Topic, QueueID: w.key.QueueID}
		byQueue[k] = append(byQueue[k], w)
	}
	found := 0
	var failed error
	err := r.s.opts.Log.Scan(from, func(v *message.View) error {
		at, popTime, ok := r.s.sourceOf(v)
		if !ok {
			return nil
		}
		k, offset, ok := r.s.place(at)
		if !ok {
			return nil
		}
		for _, w := range byQueue[k] {
			if failed = w.recognised(offset, popTime, v.Topic, &found); failed != nil {
				return failed
			}
		}
		return nil
	})
	log := r.s.opts.Logger.WithFields(logrus.Fields{"from": from, "found": found})
	if failed != nil {
		return failed
	}
	if err != nil {
		log.WithError(err).Error("the log cannot be read on: popped messages brought back behind this place may come again")
	}
	if found > 0 {
		log.Info("popped messages brought back before the last stop are recognised")
	}
	return nil
}

// recognised ends the flight of a message whose copy lies in a topic, if that is the window's.
func (w *Window) recognised(offset, popTime int64, copied []byte, found *int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	e := w.held.find(offset)
	if e == nil || e.popTime != popTime || !w.bringsBackTo(string(copied)) {
		return nil
	}
	if _, err := w.writeGone(offset); err != nil {
		return err
	}
	w.end(offset)
	*found++
	return nil
}

// bringsBackTo tells whether a topic is one to which the window's messages go.
func (w *Window) bringsBackTo(topic string) bool {
	k := &w.key
	return topic == k.Topic && strings.HasPrefix(topic, message.PrefixRetry) || topic == message.PrefixDLQ+k.Group ||
		topic == RetryTopic(k.Group, k.Topic, false) || topic == RetryTopic(k.Group, k.Topic, true)
}

// sourceOf reads the identity of a copy that was brought back: where its message lies in the log, and
// when that was popped.
func (s *Service) sourceOf(v *message.View) (commitLogOffset, popTime int64, ok bool) {
	if !bytes.HasPrefix(v.Topic, []byte(message.PrefixRetry)) && !bytes.HasPrefix(v.Topic, []byte(message.PrefixDLQ)) {
		return 0, 0, false
	}
	id, ok := message.PropertyGet(v.Properties, message.PropertySource)
	if !ok {
		return 0, 0, false
	}
	epoch, rest, _ := bytes.Cut(id, []byte(":"))
	at, pop, ok := bytes.Cut(rest, []byte(":"))
	if n, err := strconv.ParseUint(string(epoch), 16, 64); !ok || err != nil || n != s.opts.Log.Epoch() {
		return 0, 0, false
	}
	commitLogOffset, err := strconv.ParseInt(string(at), 10, 64)
	popTime, err2 := strconv.ParseInt(string(pop), 10, 64)
	return commitLogOffset, popTime, err == nil && err2 == nil
}

// place is where a record of the log lies in its queue.
func (s *Service) place(commitLogOffset int64) (k Key, offset int64, ok bool) {
	slice, err := s.opts.Log.Record(commitLogOffset, 0)
	if err != nil {
		return k, 0, false
	}
	defer slice.Release()
	v, err := message.Parse(slice.Bytes)
	if err != nil {
		return k, 0, false
	}
	return Key{Topic: string(v.Topic), QueueID: v.QueueID}, v.QueueOffset, true
}
