package processor

import (
	"strings"
	"time"

	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/remoting"
)

// timeSpans is the body of QUERY_CONSUME_TIME_SPAN.
type timeSpans struct {
	ConsumeTimeSpanSet []timeSpan `json:"consumeTimeSpanSet"`
}

// timeSpan is between which instants a queue's messages were stored, and how far a group is in them.
// Instants are ms, -1 for none.
type timeSpan struct {
	ConsumeTimeStamp    int64                 `json:"consumeTimeStamp"`
	ConsumeTimeStampStr string                `json:"consumeTimeStampStr"`
	DelayTime           int64                 `json:"delayTime"`
	MaxTimeStamp        int64                 `json:"maxTimeStamp"`
	MaxTimeStampStr     string                `json:"maxTimeStampStr"`
	MessageQueue        remoting.MessageQueue `json:"messageQueue"`
	MinTimeStamp        int64                 `json:"minTimeStamp"`
	MinTimeStampStr     string                `json:"minTimeStampStr"`
}

func (c *ConsumeStats) timeSpan(ex *remoting.Exchange) error {
	var req remoting.QueryConsumeTimeSpanRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	config := c.Topics.Get([]byte(req.Topic))
	if config == nil {
		return remoting.Errorf(remoting.TopicNotExist, "topic[%s] not exist", req.Topic)
	}
	body := timeSpans{ConsumeTimeSpanSet: make([]timeSpan, 0, config.WriteQueueNums)}
	for queueID := range config.WriteQueueNums {
		body.ConsumeTimeSpanSet = append(body.ConsumeTimeSpanSet, c.span(req.Group, req.Topic, queueID))
	}
	return encodeBody(ex, &body)
}

// span looks at one queue. The delay is the age of the first message that the group has not
// consumed, 0 when there is none.
func (c *ConsumeStats) span(group, topicName string, queueID int32) timeSpan {
	span := timeSpan{MessageQueue: c.queue(topicName, queueID), MinTimeStamp: -1, MaxTimeStamp: -1, ConsumeTimeStamp: -1}
	committed := c.Offsets.Query([]byte(group), []byte(topicName), queueID)
	if queue := c.Store.Queue([]byte(topicName), queueID); queue != nil && queue.Max() > queue.Min() {
		at := func(offset int64) int64 {
			if ms, ok := c.Store.StoreTimestamp(queue, offset); ok {
				return ms
			}
			return -1
		}
		span.MinTimeStamp, span.MaxTimeStamp = at(queue.Min()), at(queue.Max()-1)
		span.ConsumeTimeStamp = span.MinTimeStamp
		if committed > 0 {
			span.ConsumeTimeStamp = at(committed - 1)
		}
		if committed < queue.Max() {
			if committed < queue.Min() {
				c.Differences.Use(difference.StatsWithoutOffsets)
			}
			span.DelayTime = c.Time.NowMillis() - at(max(committed, queue.Min()))
		}
	}
	span.MinTimeStampStr, span.MaxTimeStampStr = spelled(span.MinTimeStamp), spelled(span.MaxTimeStamp)
	span.ConsumeTimeStampStr = spelled(span.ConsumeTimeStamp)
	return span
}

// spelled is an instant, ms, as RocketMQ's tools spell it, local time.
func spelled(ms int64) string {
	return strings.Replace(time.UnixMilli(ms).Format("2006-01-02#15:04:05.000"), ".", ":", 1)
}
