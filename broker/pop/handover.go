package pop

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/wheelmq/wheelmq/message"
)

// A checkpoint of the real broker is about as many messages as it has bits for acknowledgements, and
// its timers deliver it before they are visible.
const (
	checkpointBits  = 32
	checkpointEarly = 1000 // ms
)

// Handover is what is in flight as the real broker (RocketMQ 5.5.0) keeps it: records for its timers,
// which go into its revive topic, and the file of what was popped in order.
type Handover struct {
	// Cluster and BrokerName are the real broker's; it looks for the messages at the broker of that name.
	Cluster, BrokerName string
	// PrecisionMs is timerPrecisionMs.
	PrecisionMs int64
	// Put appends a record of the timer topic, which is good until it returns.
	Put func(*message.Record) error
}

// HandOver gives away what is in flight, and returns how many messages that is. What was popped in
// order is in the second result, for the file OrderFile. It is for a service that was not started.
func (s *Service) HandOver(h *Handover) (messages int64, order any, err error) {
	blocks := orderInfo{Table: make(map[string]map[string]orderBlock)}
	for _, w := range s.all() {
		w.mu.Lock()
		n, err := w.handOver(h)
		if w.block != nil && !w.block.done() {
			blocks.add(w)
		}
		w.mu.Unlock()
		if messages += n; err != nil {
			return messages, nil, fmt.Errorf("pop: %w", err)
		}
	}
	if len(blocks.Table) == 0 {
		return messages, nil, nil
	}
	return messages, &blocks, nil
}

// handOver makes checkpoints of runs of messages that were popped, and are visible, together. w.mu is
// held.
func (w *Window) handOver(h *Handover) (messages int64, err error) {
	var ck checkpoint
	w.held.each(0, math.MaxInt64, func(at int64, e *entry) bool {
		invisible := e.due - e.popTime
		if ck.N > 0 && (ck.N == checkpointBits || ck.PopTime != e.popTime || ck.Invisible != invisible || at-ck.Start > math.MaxInt32) {
			if err = h.put(&ck); err != nil {
				return false
			}
			ck.N = 0
		}
		if ck.N == 0 {
			ck = checkpoint{
				BrokerName: h.BrokerName, Group: w.key.Group, Topic: w.key.Topic, QueueID: w.key.QueueID, Start: at,
				PopTime: e.popTime, Invisible: invisible, Diffs: ck.Diffs[:0], RePut: "0",
			}
		}
		ck.Diffs, ck.N = append(ck.Diffs, at-ck.Start), ck.N+1
		messages++
		return true
	})
	if err == nil && ck.N > 0 {
		err = h.put(&ck)
	}
	return messages, err
}

func (h *Handover) put(ck *checkpoint) error {
	body, err := json.Marshal(ck)
	if err != nil {
		return err
	}
	due := ck.PopTime + ck.Invisible - checkpointEarly
	key := fmt.Sprintf("%s@%d@%d@%s@%d@%s@%s", ck.Topic, ck.QueueID, ck.Start, ck.Group, ck.PopTime, ck.BrokerName, tagCheckpoint)
	var props []byte
	for _, p := range [...][2]string{
		{message.PropertyTags, tagCheckpoint}, {message.PropertyUniqKey, key},
		{message.PropertyTimerDeliverMs, strconv.FormatInt(due, 10)},
		{message.PropertyTimerOutMs, strconv.FormatInt(message.TimerOut(due, h.PrecisionMs), 10)},
		// All in one: how many there are depends on its configuration.
		{message.PropertyRealTopic, reviveTopicPrefix + h.Cluster}, {message.PropertyRealQueueID, "0"},
	} {
		props = message.PropertyAppend(props, p[0], p[1])
	}
	return h.Put(&message.Record{
		Topic: message.TopicTimer, Body: body, Properties: props, BornTimestamp: ck.PopTime, BornHost: noHost, StoreHost: noHost, Internal: true,
	})
}
