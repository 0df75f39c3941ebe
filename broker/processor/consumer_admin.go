package processor

import (
	"slices"

	"github.com/wheelmq/wheelmq/broker/client"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/remoting"
)

type (
	// onlineGroups finds a group that has members, or nil.
	onlineGroups interface {
		Group(name []byte) *client.ConsumerGroup
	}
	clientReader interface {
		onlineGroups
		ClientIDs(group []byte, returning bool) (ids []string, expected bool)
		Groups(topic string) []string
		Producers(group string) []client.Member
		AllProducers() map[string][]client.Member
	}
	offsetReader interface {
		Query(group, topic []byte, queueID int32) int64
		QueryPulled(group, topic []byte, queueID int32) int64
		Groups(topic string) []string
		Topics(group string) []string
	}
)

// ConsumerAdmin serves what clients and tools ask about groups: GET_CONSUMER_LIST_BY_GROUP
// (38), GET_CONSUMER_CONNECTION_LIST (203), GET_PRODUCER_CONNECTION_LIST (204),
// GET_ALL_PRODUCER_INFO (328), QUERY_TOPIC_CONSUME_BY_WHO (300), QUERY_TOPICS_BY_CONSUMER (343) and
// QUERY_SUBSCRIPTION_BY_CONSUMER (345).
type ConsumerAdmin struct {
	Clients     clientReader
	Offsets     offsetReader
	Differences *difference.Set
}

// Routes returns the table rows.
func (c *ConsumerAdmin) Routes() []remoting.Route {
	const test = "broker/processor/consumer_admin_test.go"
	return []remoting.Route{
		{Code: remoting.GetConsumerListByGroup, Class: remoting.Inline, Handler: c.members, Since: "3.0", Test: test},
		{Code: remoting.GetConsumerConnectionList, Class: remoting.Admin, Handler: c.consumerConnections, Since: "3.0", Test: test},
		{Code: remoting.GetProducerConnectionList, Class: remoting.Admin, Handler: c.producerConnections, Since: "3.0", Test: test},
		{Code: remoting.GetAllProducerInfo, Class: remoting.Admin, Handler: c.producers, Since: "5.0", Test: test},
		{Code: remoting.QuerySubscriptionByConsumer, Class: remoting.Admin, Handler: c.subscription, Since: "4.9", Test: test},
		{Code: remoting.QueryTopicConsumeByWho, Class: remoting.Admin, Handler: c.groupsOfTopic, Since: "3.0", Test: test},
		{Code: remoting.QueryTopicsByConsumer, Class: remoting.Admin, Handler: c.topicsOfGroup, Since: "4.4", Test: test},
	}
}

// members is what a client divides the queues by. A client of the Java kind takes code 1
// for "not there yet" and asks again; one of the Go kind gives all its queues back.
func (c *ConsumerAdmin) members(ex *remoting.Exchange) error {
	var req remoting.GetConsumerListByGroupRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	ex.Reply.Ext.Open()
	ids, expected := c.Clients.ClientIDs([]byte(req.ConsumerGroup), c.Differences.On(difference.MembersOverRestart))
	if len(ids) == 0 {
		return remoting.Errorf(remoting.SystemError, "no consumer for this group, %s", req.ConsumerGroup)
	}
	if expected {
		c.Differences.Use(difference.MembersOverRestart)
	}
	return encodeBody(ex, &remoting.ConsumerListBody{ConsumerIDList: ids})
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

// producerTable is the body of GET_ALL_PRODUCER_INFO, by group.
type producerTable struct {
	Data map[string][]producerInfo `json:"data"`
}

type producerInfo struct {
	ClientID            string `json:"clientId"`
	Language            string `json:"language"`
	LastUpdateTimestamp int64  `json:"lastUpdateTimestamp"` // ms of the wire
	RemoteIP            string `json:"remoteIP"`            // with a slash before it, as Java prints addresses
	Version             int32  `json:"version"`
}

func (c *ConsumerAdmin) producers(ex *remoting.Exchange) error {
	table := producerTable{Data: make(map[string][]producerInfo)}
	for group, members := range c.Clients.AllProducers() {
		for _, m := range members {
			table.Data[group] = append(table.Data[group], producerInfo{
				ClientID: m.ClientID, Language: m.Language.String(), LastUpdateTimestamp: m.LastUpdate,
				RemoteIP: "/" + m.Conn.RemoteAddr().String(), Version: m.Version,
			})
		}
	}
	return encodeBody(ex, &table)
}

// groupSubscription is the body of QUERY_SUBSCRIPTION_BY_CONSUMER.
type groupSubscription struct {
	Group            string                     `json:"group"`
	SubscriptionData *remoting.SubscriptionData `json:"subscriptionData,omitempty"`
	Topic            string                     `json:"topic"`
}

// subscription tells what an online group wants of a topic; nothing is no error.
func (c *ConsumerAdmin) subscription(ex *remoting.Exchange) error {
	var req remoting.QuerySubscriptionByConsumerRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	return encodeBody(ex, &groupSubscription{
		Group: req.Group, Topic: req.Topic, SubscriptionData: subscribedTo(c.Clients, req.Group, req.Topic),
	})
}

// subscribedTo is what an online group wants of a topic, or nil.
func subscribedTo(clients onlineGroups, group, topicName string) *remoting.SubscriptionData {
	online := clients.Group([]byte(group))
	if online == nil {
		return nil
	}
	s := online.Subscription([]byte(topicName))
	if s == nil {
		return nil
	}
	data := subscriptionData(s)
	return &data
}
