package exchangelog

import (
	"fmt"
	"time"

	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/remoting/fastjson"
)

// readRequest takes what a reader wants to know of a request, which is gone when it is answered.
func (e *entry) readRequest(req *remoting.Command) {
	topic, group := remoting.Target(req)
	e.x.Topic, e.x.Group = string(topic), string(group)
	queue, offset := "queueId", ""
	switch req.Code {
	case remoting.SendMessageV2, remoting.SendBatchMessage:
		queue = "e"
	case remoting.PullMessage, remoting.LitePullMessage:
		offset = "queueOffset"
	case remoting.UpdateConsumerOffset:
		offset = "commitOffset"
	case remoting.ConsumerSendMsgBack:
		offset = "offset"
	}
	if v, ok := req.Ext.Get(queue); ok {
		e.x.QueueID = string(v)
	}
	if v, ok := req.Ext.Get(offset); ok && offset != "" {
		e.x.Offset = string(v)
	}
}

// clientID is what a request tells of the client's name.
func clientID(req *remoting.Command) string {
	switch req.Code {
	case remoting.HeartBeat, remoting.LockBatchMQ, remoting.UnlockBatchMQ:
		var body struct {
			Beat string `json:"clientID"`
			Lock string `json:"clientId"`
		}
		// A body that cannot be read is refused by the handler.
		if fastjson.Unmarshal(req.Body, &body) == nil {
			return body.Beat + body.Lock
		}
	case remoting.UnregisterClient:
		id, _ := req.Ext.Get("clientID")
		return string(id)
	}
	return ""
}

// readReply takes what a reader wants to know of the answer. Caller holds Log.mu.
func (e *entry) readReply(r *remoting.Reply, nowMs int64) {
	e.x.Duration = time.Duration(nowMs-e.started) * time.Millisecond
	e.x.Result, e.x.Remark, e.x.Fault = remoting.ResponseCodeName(r.Code), r.Remark, e.plan.Rule
	switch {
	case e.plan.Close:
		e.x.Result = "closed"
	case e.plan.Drop:
		e.x.Result, e.x.Remark = "dropped", "executed: "+e.x.Result
	case e.oneway && r.Code == remoting.Success:
		e.x.Result = "oneway"
	case e.plan.Delay > 0 && !e.oneway:
		e.x.Remark = joined(fmt.Sprintf("held back %v", e.plan.Delay), e.x.Remark)
	}
	switch e.x.Code {
	case remoting.SendMessage, remoting.SendMessageV2, remoting.SendBatchMessage:
		e.x.Offset = string(r.Ext.Value("queueOffset"))
	case remoting.QueryConsumerOffset, remoting.GetMaxOffset, remoting.GetMinOffset, remoting.SearchOffsetByTimestamp:
		e.x.Offset = string(r.Ext.Value("offset"))
	case remoting.PullMessage, remoting.LitePullMessage:
		e.readPull(r)
	}
}

func (e *entry) readPull(r *remoting.Reply) {
	if next := r.Ext.Value("nextBeginOffset"); len(next) > 0 && string(next) != e.x.Offset {
		e.x.Offset += "->" + string(next)
	}
	if n := len(r.Parts); r.Code == remoting.Success && n > 0 {
		e.x.Remark = joined(fmt.Sprintf("%d messages", n), e.x.Remark)
	}
}

func joined(a, b string) string {
	if b == "" {
		return a
	}
	return a + ", " + b
}

func (e *entry) isPull() bool {
	return e.x.Code == remoting.PullMessage || e.x.Code == remoting.LitePullMessage
}

// isRoutine tells whether an exchange is one of those that clients repeat as long as they live,
// of which the last says it all. Caller holds Log.mu.
func (e *entry) isRoutine(code int32) bool {
	if e.plan.Rule != "" {
		return false
	}
	switch e.x.Code {
	case remoting.PullMessage, remoting.LitePullMessage:
		return code == remoting.PullNotFound
	case remoting.UpdateConsumerOffset, remoting.HeartBeat, remoting.GetConsumerListByGroup, remoting.LockBatchMQ, remoting.UnlockBatchMQ,
		remoting.GetMaxOffset, remoting.GetMinOffset, remoting.CheckClientConfig,
		remoting.GetRouteInfoByTopic:
		return code == remoting.Success
	case remoting.QueryConsumerOffset:
		return code == remoting.Success || code == remoting.QueryNotFound
	}
	return false
}

// row is an entry as it is shown. Caller holds mu.
func (l *Log) row(e *entry) Exchange {
	x := e.x
	x.At = time.UnixMilli(e.started)
	x.Client = e.addr.String()
	if id := l.names[e.connID]; id != "" {
		x.Client += " " + id
	}
	if x.Result == "" {
		x.Result = "held"
		x.Duration = time.Duration(l.opts.Wire.NowMillis()-e.started) * time.Millisecond
	}
	if e.times > 1 {
		x.Result = fmt.Sprintf("%s ×%d", x.Result, e.times)
	}
	return x
}
