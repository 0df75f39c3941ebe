package processor

import (
	"strings"

	"github.com/wheelmq/wheelmq/broker/assignment"
	"github.com/wheelmq/wheelmq/broker/client"
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

// groupMembers tells who of a group is online.
type groupMembers interface {
	Group(name []byte) *client.ConsumerGroup
}

// Assignment serves QUERY_ASSIGNMENT (400), by which a client asks for its share of a topic's
// queues, and SET_MESSAGE_REQUEST_MODE (401) and GET_ALL_MESSAGE_REQUEST_MODE (402), by which mqadmin
// setConsumeMode makes a group pop or pull.
type Assignment struct {
	BrokerName string
	Modes      *assignment.Modes
	Topics     topicReader
	Groups     groupFinder
	Clients    groupMembers
	// Elsewhere, when not nil, is what brokers have of a topic, this one among them or not: a client asks
	// one broker about all.
	Elsewhere func(topicName string) []remoting.QueueData
	// Undivided is serverLoadBalancerEnable=false: every client gets all queues. nil: they are divided.
	Undivided func() bool
}

// Routes returns the table rows.
func (a *Assignment) Routes() []remoting.Route {
	const test = "broker/processor/assignment_test.go"
	return []remoting.Route{
		{Code: remoting.QueryAssignment, Class: remoting.Admin, Handler: a.query, Since: "5.0", Test: test},
		{Code: remoting.SetMessageRequestMode, Class: remoting.Admin, Handler: a.set, Since: "5.0", Test: test},
		{Code: remoting.GetAllMessageRequestMode, Class: remoting.Admin, Handler: a.all, Since: "5.0", Test: test},
	}
}

// query answers a client's share. A client that is not to change what it has, because its topic,
// group or strategy is not known here, gets a body without any.
func (a *Assignment) query(ex *remoting.Exchange) error {
	var req remoting.QueryAssignmentRequestBody
	if err := decodeBody(ex, &req); err != nil {
		return err
	}
	mode := a.Modes.Get(req.Topic, req.ConsumerGroup)
	var resp remoting.QueryAssignmentResponseBody
	if share, ok := a.share(&req, &mode); ok {
		list := make([]remoting.MessageQueueAssignment, 0, len(share))
		for _, queue := range share {
			list = append(list, remoting.MessageQueueAssignment{MessageQueue: queue, Mode: mode.Mode})
		}
		resp.Assignments = &list
	}
	return encodeBody(ex, &resp)
}

func (a *Assignment) share(req *remoting.QueryAssignmentRequestBody, mode *remoting.MessageRequestMode) ([]remoting.MessageQueue, bool) {
	queues, ok := a.queues(req.Topic)
	if !ok {
		return nil, false
	}
	if req.MessageModel == client.Broadcasting || a.Undivided != nil && a.Undivided() {
		return queues, true
	}
	group := a.Clients.Group([]byte(req.ConsumerGroup))
	if req.MessageModel != client.Clustering || group == nil {
		return nil, false
	}
	if mode.Mode == assignment.ModePop {
		return assignment.Pop(req.StrategyName, queues, group.ClientIDs(), req.ClientID, int(mode.PopShareQueueNum))
	}
	return assignment.Pull(req.StrategyName, queues, group.ClientIDs(), req.ClientID)
}

// queues are a topic's readable queues, here and at other brokers.
func (a *Assignment) queues(name string) (list []remoting.MessageQueue, ok bool) {
	if config := a.Topics.Get([]byte(name)); config != nil {
		ok = true
		list = readable(list, a.BrokerName, name, config.Perm, config.ReadQueueNums)
	}
	if a.Elsewhere == nil {
		return list, ok
	}
	asked := map[string]bool{a.BrokerName: true} // name servers repeat one another
	for _, q := range a.Elsewhere(name) {
		if !asked[q.BrokerName] {
			asked[q.BrokerName], ok = true, true
			list = readable(list, q.BrokerName, name, q.Perm, q.ReadQueueNums)
		}
	}
	return list, ok
}

func readable(list []remoting.MessageQueue, brokerName, topicName string, perm, queues int32) []remoting.MessageQueue {
	if perm&topic.PermRead == 0 {
		return list
	}
	for id := range queues {
		list = append(list, remoting.MessageQueue{BrokerName: brokerName, QueueID: id, Topic: topicName})
	}
	return list
}

// set changes how a group consumes a topic. Both must exist.
func (a *Assignment) set(ex *remoting.Exchange) error {
	var mode remoting.MessageRequestMode
	if err := decodeBody(ex, &mode); err != nil {
		return err
	}
	switch {
	case strings.HasPrefix(mode.Topic, message.PrefixRetry):
		return &remoting.Error{Code: remoting.NoPermission, Remark: "retry topic is not allowed to set mode"}
	case a.Topics.Get([]byte(mode.Topic)) == nil:
		return remoting.Errorf(remoting.TopicNotExist, "topic[%s] not exist", mode.Topic)
	case a.Groups.Find([]byte(mode.ConsumerGroup)) == nil:
		return &remoting.Error{Code: remoting.SubscriptionGroupNotExist, Remark: "subscription group does not exist"}
	case mode.Mode != assignment.ModePop && mode.Mode != assignment.ModePull:
		return remoting.Errorf(remoting.SystemError, "mode %q is neither %s nor %s", mode.Mode, assignment.ModePull, assignment.ModePop)
	}
	return a.Modes.Set(mode)
}

func (a *Assignment) all(ex *remoting.Exchange) error {
	table := a.Modes.All()
	return encodeBody(ex, &table)
}
