package admin

import (
	"context"

	"github.com/wheelmq/wheelmq/remoting"
)

// offsetAt is the queue offset of the first message that was stored at an instant or later, ms since the
// epoch (SEARCH_OFFSET_BY_TIMESTAMP, 29).
func (c *Client) offsetAt(ctx context.Context, broker Broker, topic string, queueID int32, ms int64) (int64, error) {
	request := &remoting.SearchOffsetRequest{Timestamp: ms}
	request.Topic, request.QueueID = []byte(topic), queueID
	reply, err := c.ask(ctx, broker.Addr, remoting.SearchOffsetByTimestamp, request, nil)
	if err != nil {
		return 0, err
	}
	var head remoting.SearchOffsetResponse
	return head.Offset, head.Decode(&reply.Ext)
}
