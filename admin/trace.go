package admin

import (
	"context"
	"strconv"
	"strings"

	"github.com/wheelmq/wheelmq/message"
)

// Consumed is what a message trace tells: a group has consumed a message.
type Consumed struct {
	Group string
	AtMs  int64 // the consumer's clock, ms since the epoch
}

// Consumptions are what the consumers' traces of a message tell, where consumers trace. A client's records in
// RMQ_SYS_TRACE_TOPIC end with 0x02, their fields with 0x01.
func (c *Client) Consumptions(ctx context.Context, msgID string) ([]Consumed, error) {
	traces, err := c.WithKey(ctx, message.TopicTrace, msgID)
	if err != nil {
		return nil, err
	}
	var list []Consumed
	for i := range traces {
		list = append(list, consumptions(string(traces[i].Body), msgID)...)
	}
	return list, nil
}

// Fields of a trace record "SubAfter": kind, request id, message id, cost in ms, success, keys, context
// code, and since 4.9 the instant and the group.
const (
	traceSubAfter  = "SubAfter"
	traceMsgID     = 2
	traceSuccess   = 4
	traceInstant   = 7
	traceGroup     = 8
	traceSubFields = 9
)

func consumptions(body, msgID string) (list []Consumed) {
	for record := range strings.SplitSeq(body, "\x02") {
		fields := strings.Split(record, "\x01")
		if fields[0] != traceSubAfter || len(fields) < traceSubFields || fields[traceMsgID] != msgID || fields[traceSuccess] != "true" {
			continue
		}
		ms, err := strconv.ParseInt(fields[traceInstant], 10, 64)
		if err == nil {
			list = append(list, Consumed{Group: fields[traceGroup], AtMs: ms})
		}
	}
	return list
}
