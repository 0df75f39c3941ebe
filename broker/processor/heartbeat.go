package processor

import (
	"fmt"
	"math"
	"strconv"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker/client"
	"github.com/wheelmq/wheelmq/broker/filter"
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

type (
	clientRegistry interface {
		Heartbeat(conn remoting.Conn, beat *client.Beat) (subChanged bool)
		Unregister(conn remoting.Conn, clientID, producerGroup, consumerGroup string)
	}
	retryTopics interface {
		// CreateRetry creates a group's retry topic unless it exists.
		CreateRetry(topic string, queueNums, perm int32) *topic.Config
	}
)

// Heartbeat serves HEART_BEAT (34), UNREGISTER_CLIENT (35) and CHECK_CLIENT_CONFIG (46).
type Heartbeat struct {
	Clients clientRegistry
	Groups  groupFinder
	Topics  retryTopics
	// RejectPullConsumer is rejectPullConsumerEnable: consumers that pull by themselves
	// are not registered; nil is false.
	RejectPullConsumer func() bool
	// PropertyFilter tells whether SQL92 filters are served (enablePropertyFilter); nil is never.
	PropertyFilter func() bool
	Log            logrus.FieldLogger
}

// Routes returns the table rows.
func (h *Heartbeat) Routes() []remoting.Route {
	const test = "broker/processor/heartbeat_test.go"
	return []remoting.Route{
		{Code: remoting.HeartBeat, Class: remoting.Inline, Handler: h.heartbeat, Since: "3.0", Test: test},
		{Code: remoting.UnregisterClient, Class: remoting.Inline, Handler: h.unregister, Since: "3.0", Test: test},
		{Code: remoting.CheckClientConfig, Class: remoting.Inline, Handler: h.checkConfig, Since: "4.1", Test: test},
	}
}

func (h *Heartbeat) heartbeat(ex *remoting.Exchange) error {
	var data remoting.HeartbeatData
	if err := decodeBody(ex, &data); err != nil {
		return err
	}
	beat := &client.Beat{
		ClientID: data.ClientID, Language: ex.Req.Language, Version: ex.Req.Version,
		Fingerprint: data.HeartbeatFingerprint, WithoutSub: data.HeartbeatFingerprint != 0 && data.WithoutSub,
	}
	for _, producer := range data.ProducerDataSet {
		beat.Producers = append(beat.Producers, producer.GroupName)
	}
	for i := range data.ConsumerDataSet {
		if consumer, ok := h.consumer(&data.ConsumerDataSet[i]); ok {
			beat.Consumers = append(beat.Consumers, consumer)
		}
	}
	subChanged := h.Clients.Heartbeat(ex.Conn, beat)
	ex.Reply.Ext.String("IS_SUPPORT_HEART_BEAT_V2", "true")
	ex.Reply.Ext.String("IS_SUB_CHANGE", strconv.FormatBool(subChanged))
	return nil
}

// consumer translates an entry and creates the group's retry topic. A group that does not
// exist and may not be created is left out silently, as by the real server.
func (h *Heartbeat) consumer(data *remoting.ConsumerData) (client.Consumer, bool) {
	if h.RejectPullConsumer != nil && h.RejectPullConsumer() && data.ConsumeType == client.ConsumeActively {
		return client.Consumer{}, false
	}
	group := h.Groups.Find([]byte(data.GroupName))
	if group == nil {
		h.Log.WithField("group", data.GroupName).Debug("heartbeat of a group that does not exist")
		return client.Consumer{}, false
	}
	if group.RetryQueueNums > 0 {
		h.Topics.CreateRetry(message.PrefixRetry+data.GroupName, group.RetryQueueNums, topic.PermRead|topic.PermWrite)
	}
	consumer := client.Consumer{
		Group: data.GroupName, ConsumeType: data.ConsumeType, MessageModel: data.MessageModel,
		ConsumeFromWhere: data.ConsumeFromWhere, Notify: group.NotifyConsumerIDsChangedEnable,
	}
	for i := range data.SubscriptionDataSet {
		s := subscribe(&data.SubscriptionDataSet[i])
		if s.Err != nil {
			h.Log.WithError(s.Err).WithFields(logrus.Fields{"group": data.GroupName, "topic": s.Topic}).
				Warn("the subscription of a heartbeat cannot be used: its pulls are refused")
		}
		consumer.Subscriptions = append(consumer.Subscriptions, s)
	}
	return consumer, true
}

// subscribe keeps an expression that cannot be used too: the pull says why.
func subscribe(data *remoting.SubscriptionData) *client.Subscription {
	s := &client.Subscription{
		Topic: data.Topic, Expression: data.SubString, ExpressionType: data.ExpressionType, Version: data.SubVersion,
		Tags: data.TagsSet, Codes: tagHashes(data.CodeSet), ClassFilterMode: data.ClassFilterMode,
	}
	s.Compile()
	return s
}

// tagHashes reads a codeSet: Java clients send integers, the Go client texts. Anything else
// is left out, as the tags are there too.
func tagHashes(set []any) []int32 {
	var hashes []int32
	for _, v := range set {
		n, err := strconv.ParseFloat(fmt.Sprint(v), 64)
		if err == nil && n >= math.MinInt32 && n <= math.MaxInt32 {
			hashes = append(hashes, int32(n))
		}
	}
	return hashes
}

func (h *Heartbeat) unregister(ex *remoting.Exchange) error {
	var req remoting.UnregisterClientRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	ex.Reply.Ext.Open()
	h.Clients.Unregister(ex.Conn, req.ClientID, req.ProducerGroup, req.ConsumerGroup)
	return nil
}

// checkConfig is how a client asks, at its start, whether its expression is one.
func (h *Heartbeat) checkConfig(ex *remoting.Exchange) error {
	var body struct {
		SubscriptionData remoting.SubscriptionData `json:"subscriptionData"`
	}
	if err := decodeBody(ex, &body); err != nil {
		return err
	}
	data := &body.SubscriptionData
	if filter.ByTag(data.ExpressionType) {
		return nil
	}
	if err := served(h.PropertyFilter, data.ExpressionType); err != nil {
		return err
	}
	return subscribe(data).Err
}
