package processor

import (
	"math"
	"strconv"

	"github.com/wheelmq/wheelmq/message"
)

// prioritise stores a message with a priority (_SYS_MSG_PRIORITY_, RocketMQ 5.5.0) in the queue of
// that number, or in the last one: who serves higher queues first serves by priority. That is the
// server's doing, whatever queue the producer chose and whatever kind its topic is. A message that
// is delayed or has a sharding key loses its priority; what is no number from 0 on is an ordinary
// property.
func (st *sendState) prioritise() {
	if st.found.priority == nil {
		return
	}
	priority := priorityOf(st.found.priority)
	if priority >= 0 {
		if st.found.otherKind || st.found.transaction {
			return
		}
		st.queueID = max(0, min(priority, st.config.WriteQueueNums-1))
		st.rec.QueueID = st.queueID
	}
	st.props = message.PropertyAppend(st.props, message.PropertyPriority, st.found.priority)
}

// priorityOf reads a priority, -1 when it is none.
func priorityOf(value []byte) int32 {
	n, err := strconv.ParseInt(string(value), 10, 32)
	if err != nil || n < 0 || n > math.MaxInt32 {
		return -1
	}
	return int32(n)
}
