package processor

import (
	"strings"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker/client"
	"github.com/wheelmq/wheelmq/broker/offset"
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/remoting/fastjson"
)

type (
	resetOffsets interface {
		Query(group, topic []byte, queueID int32) int64
		Reset(group, topic string, queueID int32, offset int64)
		Clone(from, to, topic string)
		Topics(group string) []string
		Owned(group string) bool
	}
	heldPulls interface {
		Nudge(topic string, queueID int32, group string) (nudged int)
	}
)

// OffsetReset serves INVOKE_BROKER_TO_RESET_OFFSET (222) and CLONE_GROUP_OFFSET (314).
//
// With ServerSide the offsets are set here and clients hear of it by their next pull. Without, as
// before RocketMQ 5.1, they are pushed to the clients that are online
// (RESET_CONSUMER_CLIENT_OFFSET, 220), and nothing changes here until those commit.
type OffsetReset struct {
	BrokerName  string
	ServerSide  func() bool // useServerSideResetOffset
	Topics      topicReader
	Groups      groupReader
	Clients     onlineGroups
	Offsets     resetOffsets
	Store       queueSearcher
	Polls       heldPulls
	Differences *difference.Set
	Log         logrus.FieldLogger
}

// Routes returns the table rows.
func (o *OffsetReset) Routes() []remoting.Route {
	const test = "broker/processor/offset_reset_test.go"
	return []remoting.Route{
		{Code: remoting.InvokeBrokerToResetOffset, Class: remoting.Admin, Handler: o.reset, Since: "3.0", Test: test},
		{Code: remoting.CloneGroupOffset, Class: remoting.Admin, Handler: o.clone, Since: "3.0", Test: test},
	}
}

// queueAt is an offset in a queue.
type queueAt struct {
	queueID int32
	offset  int64
}

func (o *OffsetReset) reset(ex *remoting.Exchange) error {
	var req remoting.InvokeBrokerToResetOffsetRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	o.Log.WithFields(logrus.Fields{
		"topic": req.Topic, "group": req.Group, "timestamp": req.Timestamp, "queueId": req.QueueID, "offset": req.Offset,
		"remote": ex.Conn.RemoteAddr().String(),
	}).Info("a group's offsets are reset on request")
	if o.Offsets.Owned(req.Group) {
		return ownOffsets(req.Group)
	}
	config := o.Topics.Get([]byte(req.Topic))
	if !o.ServerSide() {
		return o.pushReset(ex, &req, config)
	}
	switch {
	case config == nil:
		return remoting.Errorf(remoting.TopicNotExist, "Topic %s does not exist", req.Topic)
	case o.Groups.Lookup([]byte(req.Group)) == nil:
		return remoting.Errorf(remoting.SubscriptionGroupNotExist, "Group %s does not exist", req.Group)
	}
	targets, err := o.targets(&req, config)
	if err != nil {
		return err
	}
	for _, t := range targets {
		o.Offsets.Reset(req.Group, req.Topic, t.queueID, t.offset)
	}
	if o.Differences.On(difference.ResetWakesPulls) {
		for _, t := range targets {
			if o.Polls.Nudge(req.Topic, t.queueID, req.Group) > 0 {
				o.Differences.Use(difference.ResetWakesPulls)
			}
		}
	}
	return o.answer(ex, req.Topic, targets)
}

// targets are the queues that a request is about, and where their group is to go on.
func (o *OffsetReset) targets(req *remoting.InvokeBrokerToResetOffsetRequest, config *topic.Config) ([]queueAt, error) {
	if req.QueueID >= 0 {
		if req.QueueID >= config.ReadQueueNums {
			return nil, remoting.Errorf(remoting.SystemError, "queue %d of topic %s does not exist, it has %d", req.QueueID, req.Topic, config.ReadQueueNums)
		}
		at, err := o.target(req)
		return []queueAt{{req.QueueID, at}}, err
	}
	targets := make([]queueAt, 0, config.ReadQueueNums)
	for queueID := range config.ReadQueueNums {
		targets = append(targets, queueAt{queueID, o.at(req.Topic, queueID, req.Timestamp)})
	}
	if len(targets) == 0 {
		return nil, remoting.Errorf(remoting.SystemError, "No queues to reset.")
	}
	return targets, nil
}

// target is where one queue is to go on, by offset or by timestamp. One behind the end is allowed,
// as in the real server.
func (o *OffsetReset) target(req *remoting.InvokeBrokerToResetOffsetRequest) (int64, error) {
	if req.Offset == -1 {
		return o.at(req.Topic, req.QueueID, req.Timestamp), nil
	}
	var lowest, highest int64
	if queue := o.Store.Queue([]byte(req.Topic), req.QueueID); queue != nil {
		lowest, highest = queue.Min(), queue.Max()
	}
	if req.Offset < lowest || req.Offset > highest+1 {
		return 0, remoting.Errorf(remoting.SystemError, "Target offset %d not in consume queue range [%d-%d]", req.Offset, lowest, highest)
	}
	return req.Offset, nil
}

// at is a queue's offset at a timestamp, ms; negative: its end.
func (o *OffsetReset) at(topicName string, queueID int32, timestamp int64) int64 {
	queue := o.Store.Queue([]byte(topicName), queueID)
	switch {
	case queue == nil:
		return 0
	case timestamp < 0:
		return queue.Max()
	}
	return o.Store.OffsetByTime(queue, timestamp, false)
}

func (o *OffsetReset) answer(ex *remoting.Exchange, topicName string, targets []queueAt) error {
	body, err := o.offsetTable(topicName, targets)
	ex.Reply.Body = body
	return err
}

// offsetTable is {"offsetTable":{queue:offset}}.
func (o *OffsetReset) offsetTable(topicName string, targets []queueAt) ([]byte, error) {
	var rows queueTable
	for _, t := range targets {
		mq := remoting.MessageQueue{Topic: topicName, BrokerName: o.BrokerName, QueueID: t.queueID}
		if err := rows.add(mq, t.offset); err != nil {
			return nil, err
		}
	}
	return rows.object("offsetTable"), nil
}

// resetPushSince is the version from which clients know 220 (V3_0_7_SNAPSHOT).
const resetPushSince = 28

// pushReset sends the offsets to the group's clients, which go on from there and commit. Without
// isForce none goes forward.
func (o *OffsetReset) pushReset(ex *remoting.Exchange, req *remoting.InvokeBrokerToResetOffsetRequest, config *topic.Config) error {
	if config == nil {
		return remoting.Errorf(remoting.TopicNotExist, "[reset-offset] reset offset failed, no topic in this broker. topic=%s", req.Topic)
	}
	targets, err := o.pushTargets(req, config)
	if err != nil {
		return err
	}
	online := o.Clients.Group([]byte(req.Group))
	if online == nil {
		return remoting.Errorf(remoting.ConsumerNotOnline, "Consumer not online, so can not reset offset, Group: %s Topic: %s Timestamp: %d",
			req.Group, req.Topic, req.Timestamp)
	}
	body, err := o.pushBody(ex.Req.Language, req.Topic, targets)
	if err != nil {
		return err
	}
	head := remoting.ResetConsumerClientOffsetRequest{Topic: req.Topic, Group: req.Group, Timestamp: req.Timestamp}
	for _, m := range online.Members {
		if m.Version < resetPushSince {
			return remoting.Errorf(remoting.SystemError, "the client does not support this feature. version=%d", m.Version)
		}
		var ext remoting.ExtWriter
		head.Encode(&ext)
		if err := client.Notify(m.Conn, remoting.ResetConsumerClientOffset, &ext, body); err != nil {
			o.Log.WithError(err).WithFields(logrus.Fields{"group": req.Group, "clientId": m.ClientID}).Warn("a client is not told of its group's reset")
		}
	}
	return o.answer(ex, req.Topic, targets)
}

func (o *OffsetReset) pushTargets(req *remoting.InvokeBrokerToResetOffsetRequest, config *topic.Config) ([]queueAt, error) {
	var targets []queueAt
	for queueID := range config.WriteQueueNums {
		committed := o.Offsets.Query([]byte(req.Group), []byte(req.Topic), queueID)
		if committed == offset.None {
			return nil, remoting.Errorf(remoting.SystemError, "THe consumer group <%s> not exist", req.Group)
		}
		at := o.at(req.Topic, queueID, req.Timestamp)
		if !req.IsForce && at > committed {
			at = committed
		}
		targets = append(targets, queueAt{queueID, at})
	}
	return targets, nil
}

// pushBody is the offsets as the caller's language has them: C++ clients get a list.
func (o *OffsetReset) pushBody(language remoting.Language, topicName string, targets []queueAt) ([]byte, error) {
	if language != remoting.LanguageCPP {
		return o.offsetTable(topicName, targets)
	}
	list := offsetList{OffsetTable: make([]listedOffset, 0, len(targets))}
	for _, t := range targets {
		list.OffsetTable = append(list.OffsetTable, listedOffset{
			BrokerName: o.BrokerName, Offset: t.offset, QueueID: t.queueID, Topic: topicName,
		})
	}
	return fastjson.Marshal(&list)
}

// offsetList is the body of 220 for C++ clients.
type offsetList struct {
	OffsetTable []listedOffset `json:"offsetTable"`
}

type listedOffset struct {
	BrokerName string `json:"brokerName"`
	Offset     int64  `json:"offset"`
	QueueID    int32  `json:"queueId"`
	Topic      string `json:"topic"`
}

// clone copies offsets from group to group. A topic that the source group is online without is left
// out, unless it is said to be offline.
func (o *OffsetReset) clone(ex *remoting.Exchange) error {
	var req remoting.CloneGroupOffsetRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	if o.Offsets.Owned(req.DestGroup) {
		return ownOffsets(req.DestGroup)
	}
	topics := []string{req.Topic}
	if strings.TrimSpace(req.Topic) == "" {
		o.Differences.Use(difference.CloneOfAllTopics)
		topics = o.Offsets.Topics(req.SrcGroup)
	}
	online := o.Clients.Group([]byte(req.SrcGroup))
	for _, name := range topics {
		if o.Topics.Get([]byte(name)) == nil || !req.Offline && online != nil && online.Subscription([]byte(name)) == nil {
			o.Log.WithFields(logrus.Fields{"topic": name, "from": req.SrcGroup, "to": req.DestGroup}).
				Warn("offsets are not cloned: there is no such topic, or the group does not subscribe to it")
			continue
		}
		o.Offsets.Clone(req.SrcGroup, req.DestGroup, name)
	}
	return nil
}
