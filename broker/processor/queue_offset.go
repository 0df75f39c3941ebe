package processor

import (
	"strings"

	"github.com/wheelmq/wheelmq/remoting"
)

// QueueOffset serves GET_MAX_OFFSET (30), GET_MIN_OFFSET (31), SEARCH_OFFSET_BY_TIMESTAMP
// (29) and GET_EARLIEST_MSG_STORETIME (32). An unknown topic or queue is not an error: it
// is an empty queue, as with the real server.
type QueueOffset struct {
	Store queueSearcher
}

// Routes returns the table rows. Offset by time reads records anywhere in the log, so it
// does not run on the event loop.
func (q *QueueOffset) Routes() []remoting.Route {
	const test = "broker/processor/queue_offset_test.go"
	return []remoting.Route{
		{Code: remoting.SearchOffsetByTimestamp, Class: remoting.Query, Handler: q.search, Since: "3.0", Test: test},
		{Code: remoting.GetMaxOffset, Class: remoting.Inline, Handler: q.max, Since: "3.0", Test: test},
		{Code: remoting.GetMinOffset, Class: remoting.Inline, Handler: q.min, Since: "3.0", Test: test},
		{Code: remoting.GetEarliestMsgStoretime, Class: remoting.Query, Handler: q.earliest, Since: "3.0", Test: test},
	}
}

func (q *QueueOffset) max(ex *remoting.Exchange) error {
	var req remoting.GetMaxOffsetRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	var resp remoting.GetMaxOffsetResponse
	if queue := q.Store.Queue(req.Topic, req.QueueID); queue != nil {
		resp.Offset = queue.Max()
	}
	resp.Encode(&ex.Reply.Ext)
	return nil
}

func (q *QueueOffset) min(ex *remoting.Exchange) error {
	var req remoting.GetMinOffsetRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	var resp remoting.GetMinOffsetResponse
	if queue := q.Store.Queue(req.Topic, req.QueueID); queue != nil {
		resp.Offset = queue.Min()
	}
	resp.Encode(&ex.Reply.Ext)
	return nil
}

func (q *QueueOffset) earliest(ex *remoting.Exchange) error {
	var req remoting.GetEarliestMsgStoretimeRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	resp := remoting.GetEarliestMsgStoretimeResponse{Timestamp: -1}
	if queue := q.Store.Queue(req.Topic, req.QueueID); queue != nil && queue.Max() > queue.Min() {
		if ms, ok := q.Store.StoreTimestamp(queue, queue.Min()); ok {
			resp.Timestamp = ms
		}
	}
	resp.Encode(&ex.Reply.Ext)
	return nil
}

func (q *QueueOffset) search(ex *remoting.Exchange) error {
	var req remoting.SearchOffsetRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	var resp remoting.SearchOffsetResponse
	if queue := q.Store.Queue(req.Topic, req.QueueID); queue != nil {
		upper := strings.EqualFold(req.BoundaryType, "upper")
		resp.Offset = q.Store.OffsetByTime(queue, req.Timestamp, upper)
	}
	resp.Encode(&ex.Reply.Ext)
	return nil
}
