package wheelmqtest

import (
	"context"
	"time"

	"github.com/wheelmq/wheelmq/fault"
	"github.com/wheelmq/wheelmq/remoting"
)

// Rule says which requests, or which part of the server, fail and how. See fault.Rule.
type Rule = fault.Rule

// Request codes that rules are often about. Package remoting has all of them.
const (
	SendMessage          = remoting.SendMessage
	SendMessageV2        = remoting.SendMessageV2
	SendBatchMessage     = remoting.SendBatchMessage
	PullMessage          = remoting.PullMessage
	QueryConsumerOffset  = remoting.QueryConsumerOffset
	UpdateConsumerOffset = remoting.UpdateConsumerOffset
	ConsumerSendMsgBack  = remoting.ConsumerSendMsgBack
	Heartbeat            = remoting.HeartBeat
	GetRouteInfoByTopic  = remoting.GetRouteInfoByTopic
)

// Response codes that rules often answer with.
const (
	SystemError         = remoting.SystemError
	SystemBusy          = remoting.SystemBusy
	FlushDiskTimeout    = remoting.FlushDiskTimeout
	MessageIllegal      = remoting.MessageIllegal
	ServiceNotAvailable = remoting.ServiceNotAvailable
	NoPermission        = remoting.NoPermission
	TopicNotExist       = remoting.TopicNotExist
)

// Fault is a rule in force.
type Fault struct {
	mq *Broker
	f  *fault.Fault
}

// Fault makes the server fail as the rule says, until Remove, or as often as its Count says.
func (mq *Broker) Fault(rule Rule) *Fault {
	mq.t.Helper()
	f, err := mq.Control().AddFault(rule)
	mq.must("fault", err)
	return &Fault{mq, f}
}

// ID is the rule's name in logs and in the table of exchanges.
func (f *Fault) ID() string { return f.f.ID() }

// Hits is how often the rule has applied.
func (f *Fault) Hits() int { return int(f.f.Hits()) }

// Wait waits of real time until the rule has applied n times.
func (f *Fault) Wait(n int, timeout time.Duration) {
	f.mq.t.Helper()
	f.mq.within("wait for fault "+f.ID(), timeout, func(ctx context.Context) error { return f.f.Wait(ctx, int64(n)) })
}

// Remove ends the rule.
func (f *Fault) Remove() { f.f.Remove() }
