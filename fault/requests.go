package fault

import (
	"strconv"
	"time"

	"github.com/wheelmq/wheelmq/remoting"
)

// exchange is what rules look at of a request when its answer leaves: the request itself is
// gone by then.
type exchange struct {
	rules        *Rules
	plan         *remoting.Plan
	code         int32
	topic, group string
}

// Before is the step of a router that applies the rules of requests.
func (r *Rules) Before(ex *remoting.Exchange, _ *remoting.Route) error {
	topic, group := remoting.Target(&ex.Req)
	e := &exchange{rules: r, plan: ex.Plan(), code: ex.Req.Code, topic: string(topic), group: string(group)}
	e.plan.Decide = e.decide
	for _, f := range *r.list.Load() {
		if f.action != closeConn && (f.action != respond || executed(f.rule.Respond)) || !e.applies(f) {
			continue
		}
		e.plan.Close = f.action == closeConn
		if f.action == respond {
			answerHeader(ex, f.rule.Respond)
			return &remoting.Error{Code: f.rule.Respond, Remark: f.remark()}
		}
		return &remoting.Error{Code: remoting.SystemError, Remark: "the connection is closed by fault rule " + f.rule.ID}
	}
	return nil
}

// applies tells whether a rule applies to the exchange, counts it if so, and names it.
func (e *exchange) applies(f *Fault) bool {
	if !f.rule.matches(e.code, e.topic, e.group) || !f.take() {
		return false
	}
	e.name(f)
	return true
}

func (e *exchange) name(f *Fault) {
	if e.plan.Rule != "" {
		e.plan.Rule += ","
	}
	e.plan.Rule += f.rule.ID
}

// remark tells the client, and who reads its log, where the answer comes from.
func (f *Fault) remark() string {
	if f.rule.Remark != "" {
		return f.rule.Remark
	}
	return remoting.ResponseCodeName(f.rule.Respond) + " by fault rule " + f.rule.ID
}

// decide applies the rules of answers.
func (e *exchange) decide(reply *remoting.Reply) {
	if e.plan.Close {
		return
	}
	e.attribute(reply.Code)
	for _, f := range *e.rules.list.Load() {
		switch {
		case f.action == delay && e.plan.Delay == 0 && e.applies(f):
			e.plan.Delay, e.plan.After = max(f.rule.Delay, time.Millisecond), e.rules.held.after
		case f.action == dropReply && !e.plan.Drop && e.applies(f):
			e.plan.Drop = true
		case f.action == respond && executed(f.rule.Respond) && reply.Code == remoting.Success && e.applies(f):
			reply.Code, reply.Remark = f.rule.Respond, f.remark()
		}
	}
}

// attribute counts a refusal by a store that a rule has broken.
func (e *exchange) attribute(code int32) {
	if code != remoting.ServiceNotAvailable || e.plan.Rule != "" {
		return
	}
	switch e.code {
	case remoting.SendMessage, remoting.SendMessageV2, remoting.SendBatchMessage, remoting.ConsumerSendMsgBack:
	default:
		return
	}
	for _, f := range *e.rules.list.Load() {
		if f.action == diskFull && f.take() || f.action == fsyncFails && f.Hits() > 0 {
			e.name(f)
			return
		}
	}
}

// answerHeader adds what clients read of an answer that is no failure to them.
func answerHeader(ex *remoting.Exchange, code int32) {
	switch code {
	case remoting.PullNotFound, remoting.PullRetryImmediately, remoting.PullOffsetMoved:
	default:
		return
	}
	if ex.Req.Code != remoting.PullMessage && ex.Req.Code != remoting.LitePullMessage {
		return
	}
	asked, _ := ex.Req.Ext.Get("queueOffset")
	offset, err := strconv.ParseInt(string(asked), 10, 64)
	if err != nil {
		return
	}
	header := remoting.PullMessageResponse{NextBeginOffset: offset, MaxOffset: offset}
	header.Encode(&ex.Reply.Ext)
}
