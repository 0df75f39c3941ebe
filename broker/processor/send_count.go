package processor

import (
	"strings"

	"github.com/wheelmq/wheelmq/broker/stats"
	"github.com/wheelmq/wheelmq/message"
)

// countIn counts a single message where it is stored: a hook may have put it elsewhere than to the topic
// it was sent to.
func (st *sendState) countIn(size int64) {
	s := st.send
	switch at := st.rec.Topic; {
	case st.found.transaction: // see prepared
	case at == st.config.TopicName && st.found.fifo:
		st.counters.In(stats.FIFO, size)
	case at == st.config.TopicName:
		st.counters.In(stats.Normal, size)
	case at == message.TopicSchedule:
		s.waiting.schedule.In(stats.Delay, size)
	case at == message.TopicTimer:
		s.waiting.timer.In(stats.Delay, size)
	default:
		s.opts.Stats.TopicCounters([]byte(at)).In(stats.Normal, size)
		countDeadLetter(s.opts.Stats, &st.rec)
	}
}

// countDeadLetter counts a record that was stored in its group's dead letters.
func countDeadLetter(s *stats.Service, rec *message.Record) {
	group, ok := strings.CutPrefix(rec.Topic, message.PrefixDLQ)
	if !ok {
		return
	}
	if origin, known := message.PropertyGet(rec.Properties, message.PropertyRetryTopic); known {
		s.GroupCounters([]byte(group), origin).DeadLetter()
	}
}
