package processor

import (
	"slices"

	"github.com/wheelmq/wheelmq/broker/client"
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/remoting"
)

type (
	clientReader interface {
		Group(name []byte) *client.ConsumerGroup
		Groups(topic string) []string
		Producers(group string) []client.Member
	}
	offsetReader interface {
		Query(group, topic []byte, queueID int32) int64
		QueryPulled(group, topic []byte, queueID int32) int64
		Groups(topic string) []string
		Topics(group string) []string
	}
	gotRates interface {
		GotTPS(group, topic string) float64
	}
)

// ConsumerAdmin serves what clients and tools ask about groups: GET_CONSUMER_LIST_BY_GROUP
// (38), GET_CONSUMER_CONNECTION_LIST (203), GET_PRODUCER_CONNECTION_LIST (204),
// GET_CONSUME_STATS (208), QUERY_TOPIC_CONSUME_BY_WHO (300) and QUERY_TOPICS_BY_CONSUMER
// (343).
type ConsumerAdmin struct {
	BrokerName string
	Clients    clientReader
	Offsets    offsetReader
	Topics     topicReader
	Store      queueReader
	Stats      gotRates
}

// Routes returns the table rows.
func (c *ConsumerAdmin) Routes() []remoting.Route {
	const test = "broker/processor/consumer_admin_test.go"
	return []remoting.Route{
		{Code: remoting.GetConsumerListByGroup, Name: "GET_CONSUMER_LIST_BY_GROUP", Class: remoting.Inline, Handler: c.members, Since: "3.0", Test: test},
		{Code: remoting.GetConsumerConnectionList, Name: "GET_CONSUMER_CONNECTION_LIST", Class: remoting.Admin, Handler: c.consumerConnections, Since: "3.0", Test: test},
		{Code: remoting.GetProducerConnectionList, Name: "GET_PRODUCER_CONNECTION_LIST", Class: remoting.Admin, Handler: c.producerConnections, Since: "3.0", Test: test},
		{Code: remoting.GetConsumeStats, Name: "GET_CONSUME_STATS", Class: remoting.Admin, Handler: c.consumeStats, Since: "3.0", Test: test},
		{Code: remoting.QueryTopicConsumeByWho, Name: "QUERY_TOPIC_CONSUME_BY_WHO", Class: remoting.Admin, Handler: c.groupsOfTopic, Since: "3.0", Test: test},
		{Code: remoting.QueryTopicsByConsumer, Name: "QUERY_TOPICS_BY_CONSUMER", Class: remoting.Admin, Handler: c.topicsOfGroup, Since: "4.4", Test: test},
	}
}

// members is what a client divides the queues by. A client of the Java kind takes code 1
// for "not there yet" and asks again.
func (c *ConsumerAdmin) members(ex *remoting.Exchange) error {
	var req remoting.GetConsumerListByGroupRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	ex.Reply.Ext.Open()
	group := c.Clients.Group([]byte(req.ConsumerGroup))
	if group == nil {
		return remoting.Errorf(remoting.SystemError, "no consumer for this group, %s", req.ConsumerGroup)
	}
	body := remoting.ConsumerListBody{ConsumerIDList: group.ClientIDs()}
	return encodeBody(ex, &body)
}

func (c *ConsumerAdmin) consumerConnections(ex *remoting.Exchange) error {
	var req remoting.GetConsumerConnectionListRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	group := c.Clients.Group([]byte(req.ConsumerGroup))
	if group == nil {
		return remoting.Errorf(remoting.ConsumerNotOnline, "the consumer group[%s] not online", req.ConsumerGroup)
	}
	body := remoting.ConsumerConnection{
		ConnectionSet: connections(group.Members), ConsumeType: group.ConsumeType,
		MessageModel: group.MessageModel, ConsumeFromWhere: group.ConsumeFromWhere,
		SubscriptionTable: make(map[string]remoting.SubscriptionData),
	}
	for _, s := range group.Subscriptions() {
		body.SubscriptionTable[s.Topic] = subscriptionData(s)
	}
	return encodeBody(ex, &body)
}

// subscriptionData has empty sets where there are none: clients do not expect null.
func subscriptionData(s *client.Subscription) remoting.SubscriptionData {
	data := remoting.SubscriptionData{
		Topic: s.Topic, SubString: s.Expression, SubVersion: s.Version, ExpressionType: s.ExpressionType,
		TagsSet: append([]string{}, s.Tags...), CodeSet: []any{}, ClassFilterMode: s.ClassFilterMode,
	}
	for _, code := range s.Codes {
		data.CodeSet = append(data.CodeSet, code)
	}
	return data
}

func (c *ConsumerAdmin) producerConnections(ex *remoting.Exchange) error {
	var req remoting.GetProducerConnectionListRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	members := c.Clients.Producers(req.ProducerGroup)
	if members == nil {
		return remoting.Errorf(remoting.SystemError, "the producer group[%s] not exist", req.ProducerGroup)
	}
	return encodeBody(ex, &remoting.ProducerConnection{ConnectionSet: connections(members)})
}

func connections(members []client.Member) []remoting.Connection {
	list := make([]remoting.Connection, 0, len(members))
	for _, m := range members {
		list = append(list, remoting.Connection{
			ClientID: m.ClientID, ClientAddr: m.Conn.RemoteAddr().String(), Language: m.Language.String(), Version: m.Version,
		})
	}
	return list
}

// groupList is the body of QUERY_TOPIC_CONSUME_BY_WHO.
type groupList struct {
	GroupList []string `json:"groupList"`
}

func (c *ConsumerAdmin) groupsOfTopic(ex *remoting.Exchange) error {
	var req remoting.TopicRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	groups := append(c.Clients.Groups(req.Topic), c.Offsets.Groups(req.Topic)...)
	slices.Sort(groups)
	return encodeBody(ex, &groupList{GroupList: slices.Compact(groups)})
}

func (c *ConsumerAdmin) topicsOfGroup(ex *remoting.Exchange) error {
	var req remoting.GetSubscriptionGroupRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	return encodeBody(ex, &remoting.TopicList{TopicList: c.Offsets.Topics(req.Group)})
}

// consumeStats answers a group's progress, in one topic or in all that it has offsets in.
// A topic that an online group no longer subscribes to is left out. A group without
// progress is an empty table, not an error.
func (c *ConsumerAdmin) consumeStats(ex *remoting.Exchange) error {
	var req remoting.GetConsumeStatsRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	topics := []string{req.Topic}
	if req.Topic == "" {
		topics = c.Offsets.Topics(req.ConsumerGroup)
	}
	online := c.Clients.Group([]byte(req.ConsumerGroup))
	var rows queueTable
	tps := 0.0
	for _, name := range topics {
		config := c.Topics.Get([]byte(name))
		if config == nil || online != nil && online.Subscription([]byte(name)) == nil {
			continue
		}
		for queueID := range config.ReadQueueNums {
			mq := remoting.MessageQueue{Topic: name, BrokerName: c.BrokerName, QueueID: queueID}
			if err := rows.add(mq, c.progress(req.ConsumerGroup, config, queueID)); err != nil {
				return err
			}
		}
		tps += c.Stats.GotTPS(req.ConsumerGroup, name)
	}
	ex.Reply.Body = rows.body("consumeTps", tps)
	return nil
}

func (c *ConsumerAdmin) progress(group string, config *topic.Config, queueID int32) remoting.OffsetWrapper {
	topicName, groupName := []byte(config.TopicName), []byte(group)
	w := remoting.OffsetWrapper{
		ConsumerOffset: max(c.Offsets.Query(groupName, topicName, queueID), 0),
		PullOffset:     max(c.Offsets.QueryPulled(groupName, topicName, queueID), 0),
	}
	queue := c.Store.Queue(topicName, queueID)
	if queue == nil {
		return w
	}
	w.BrokerOffset = queue.Max()
	if w.ConsumerOffset > 0 {
		if ms, ok := c.Store.StoreTimestamp(queue, w.ConsumerOffset-1); ok {
			w.LastTimestamp = ms
		}
	}
	return w
}
