package processor

import (
	"slices"
	"strings"

	"github.com/wheelmq/wheelmq/broker/attribute"
	"github.com/wheelmq/wheelmq/broker/pop"
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/remoting"
)

type (
	topicAdmin interface {
		GetString(name string) *topic.Config
		CheckChange(name string) error
		Update(config topic.Config) (changed bool, err error)
		Delete(name string) (bool, error)
		Wrapper() remoting.TopicConfigWrapper
		SystemNames() []string
		All() []*topic.Config
	}
	topicData interface {
		DeleteTopic(topic string) error
	}
	topicGroups interface {
		// Groups returns the groups that have an offset in a topic.
		Groups(topic string) []string
	}
	// TopicRows is a table with rows per topic.
	TopicRows interface {
		DeleteTopic(topic string)
	}
)

// maxQueues bounds a topic's queues: tools ask for a row of each, and a topic of billions
// would take all memory at the first question.
const maxQueues = 65_536

// TopicAdmin serves UPDATE_AND_CREATE_TOPIC (17), UPDATE_AND_CREATE_TOPIC_LIST (18),
// GET_ALL_TOPIC_CONFIG (21), DELETE_TOPIC_IN_BROKER (215), GET_SYSTEM_TOPIC_LIST_FROM_BROKER
// (305) and GET_TOPIC_CONFIG (351). Paging fields of 21 are ignored: everything is answered.
type TopicAdmin struct {
	Topics topicAdmin
	Data   topicData
	// Rows are the tables that forget a deleted topic.
	Rows []TopicRows
	// Consumed, when not nil, tells who consumes a topic: the topics with their retries of it go with
	// it (clearRetryTopicWhenDeleteTopic).
	Consumed    topicGroups
	Differences *difference.Set
}

// Routes returns the table rows.
func (a *TopicAdmin) Routes() []remoting.Route {
	const test = "broker/processor/topic_admin_test.go"
	return []remoting.Route{
		{Code: remoting.UpdateAndCreateTopic, Class: remoting.Admin, Handler: a.update, Since: "3.0", Test: test},
		{Code: remoting.UpdateAndCreateTopicList, Class: remoting.Admin, Handler: a.updateList, Since: "5.2", Test: test},
		{Code: remoting.GetAllTopicConfig, Class: remoting.Admin, Handler: a.all, Since: "3.0", Test: test},
		{Code: remoting.DeleteTopicInBroker, Class: remoting.Admin, Handler: a.delete, Since: "3.0", Test: test},
		{Code: remoting.GetSystemTopicListFromBroker, Class: remoting.Admin, Handler: a.system, Since: "3.0", Test: test},
		{Code: remoting.GetTopicConfig, Class: remoting.Admin, Handler: a.get, Since: "4.9", Test: test},
	}
}

func (a *TopicAdmin) update(ex *remoting.Exchange) error {
	var req remoting.CreateTopicRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	attributes, err := attribute.Parse(req.Attributes)
	if err != nil {
		return err
	}
	filter := req.TopicFilterType
	if filter == "" {
		filter = "SINGLE_TAG"
	}
	return a.put(topic.Config{
		TopicName: req.Topic, ReadQueueNums: req.ReadQueueNums, WriteQueueNums: req.WriteQueueNums, Perm: req.Perm,
		TopicFilterType: filter, TopicSysFlag: req.TopicSysFlag, Order: req.Order, Attributes: attributes,
	})
}

func (a *TopicAdmin) put(config topic.Config) error {
	if err := topic.ValidateName(config.TopicName); err != nil {
		return err
	}
	if err := a.Topics.CheckChange(config.TopicName); err != nil {
		return err
	}
	if n := max(config.ReadQueueNums, config.WriteQueueNums); n > maxQueues || min(config.ReadQueueNums, config.WriteQueueNums) < 0 {
		a.Differences.Use(difference.QueueNumsBounded)
		return remoting.Errorf(remoting.InvalidParameter, "topic %s: the numbers of queues must be from 0 to %d", config.TopicName, maxQueues)
	}
	_, err := a.Topics.Update(config)
	return err
}

func (a *TopicAdmin) updateList(ex *remoting.Exchange) error {
	var body struct {
		TopicConfigList []topic.Config `json:"topicConfigList"`
	}
	if err := decodeBody(ex, &body); err != nil {
		return err
	}
	for _, config := range body.TopicConfigList {
		before := a.Topics.GetString(config.TopicName)
		if err := a.put(config); err != nil {
			return err
		}
		if before != nil && before == a.Topics.GetString(config.TopicName) {
			a.Differences.Use(difference.BatchTopicListApplied)
		}
	}
	return nil
}

func (a *TopicAdmin) delete(ex *remoting.Exchange) error {
	var req remoting.DeleteTopicRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	if strings.TrimSpace(req.Topic) == "" {
		return remoting.Errorf(remoting.InvalidParameter, "The specified topic is blank.")
	}
	if err := a.Topics.CheckChange(req.Topic); err != nil {
		return err
	}
	// While the topic is there, a message that comes back may make its retry topic again.
	retries := a.retriesOf(req.Topic)
	for _, name := range slices.Concat(retries, []string{req.Topic}, retries) {
		if err := a.remove(name); err != nil {
			return err
		}
	}
	return nil
}

// retriesOf are the topics that may have what was popped from a topic and not acknowledged.
func (a *TopicAdmin) retriesOf(name string) (list []string) {
	if a.Consumed == nil {
		return nil
	}
	for _, group := range a.Consumed.Groups(name) {
		list = append(list, pop.RetryTopic(group, name, false), pop.RetryTopic(group, name, true))
	}
	return list
}

func (a *TopicAdmin) remove(name string) error {
	existed, err := a.Topics.Delete(name)
	if err != nil || !existed {
		return err
	}
	for _, rows := range a.Rows {
		rows.DeleteTopic(name)
	}
	return a.Data.DeleteTopic(name)
}

func (a *TopicAdmin) get(ex *remoting.Exchange) error {
	var req remoting.GetTopicConfigRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	config := a.Topics.GetString(req.Topic)
	if config == nil {
		return remoting.Errorf(remoting.TopicNotExist, "No topic in this broker. topic: %s", req.Topic)
	}
	return encodeBody(ex, config)
}

func (a *TopicAdmin) all(ex *remoting.Exchange) error {
	wrapper := a.Topics.Wrapper()
	ex.Reply.Ext.Int("totalTopicNum", int64(len(wrapper.TopicConfigTable)))
	return encodeBody(ex, wrapper)
}

func (a *TopicAdmin) system(ex *remoting.Exchange) error {
	return encodeBody(ex, remoting.TopicList{TopicList: a.Topics.SystemNames()})
}
