package processor

import (
	"encoding/json"
	"strconv"

	"github.com/wheelmq/wheelmq/broker/subscription"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/remoting/fastjson"
)

type (
	groupAdmin interface {
		Find(group []byte) *subscription.Config
		Update(config subscription.Config) error
		UpdateAll(configs []subscription.Config) error
		Forbid(group, topicName string, forbid bool) error
		Forbids(group, topicName []byte) bool
		Delete(group string) (bool, error)
		Wrapper() remoting.SubscriptionGroupWrapper
	}
	// GroupRows is a table with rows per group.
	GroupRows interface {
		DeleteGroup(group string)
	}
)

// GroupAdmin serves UPDATE_AND_CREATE_SUBSCRIPTIONGROUP (200) and its list (225),
// GET_ALL_SUBSCRIPTIONGROUP_CONFIG (201), DELETE_SUBSCRIPTIONGROUP (207),
// GET_SUBSCRIPTIONGROUP_CONFIG (352) and UPDATE_AND_GET_GROUP_FORBIDDEN (353). Paging fields of 201
// are ignored: everything is answered.
type GroupAdmin struct {
	Groups groupAdmin
	// Rows are the tables that forget a deleted group; Progress are those that do so only when asked.
	Rows        []GroupRows
	Progress    []GroupRows
	Differences *difference.Set
}

// Routes returns the table rows.
func (a *GroupAdmin) Routes() []remoting.Route {
	const test = "broker/processor/topic_admin_test.go"
	return []remoting.Route{
		{Code: remoting.UpdateAndCreateSubscriptionGroup, Class: remoting.Admin, Handler: a.update, Since: "3.0", Test: test},
		{Code: remoting.UpdateAndCreateSubscriptionGroupList, Class: remoting.Admin, Handler: a.updateAll, Since: "5.1", Test: test},
		{Code: remoting.UpdateAndGetGroupForbidden, Class: remoting.Admin, Handler: a.forbid, Since: "4.9", Test: test},
		{Code: remoting.GetAllSubscriptionGroupConfig, Class: remoting.Admin, Handler: a.all, Since: "3.0", Test: test},
		{Code: remoting.DeleteSubscriptionGroup, Class: remoting.Admin, Handler: a.delete, Since: "3.0", Test: test},
		{Code: remoting.GetSubscriptionGroupConfig, Class: remoting.Admin, Handler: a.get, Since: "4.9", Test: test},
	}
}

func (a *GroupAdmin) update(ex *remoting.Exchange) error {
	config := remoting.DefaultSubscriptionGroupConfig("")
	if err := decodeBody(ex, &config); err != nil {
		return err
	}
	return a.Groups.Update(config)
}

// groupConfigs is the body of 225; what an entry lacks has its default.
type groupConfigs struct {
	GroupConfigList []json.RawMessage `json:"groupConfigList"`
}

func (a *GroupAdmin) updateAll(ex *remoting.Exchange) error {
	var list groupConfigs
	if err := decodeBody(ex, &list); err != nil {
		return err
	}
	configs := make([]subscription.Config, 0, len(list.GroupConfigList))
	for _, entry := range list.GroupConfigList {
		config := remoting.DefaultSubscriptionGroupConfig("")
		if err := fastjson.Unmarshal(entry, &config); err != nil {
			return remoting.Errorf(remoting.SystemError, "entry %d of the list cannot be read: %v", len(configs), err)
		}
		configs = append(configs, config)
	}
	return a.Groups.UpdateAll(configs)
}

// groupForbidden is the answer to 353.
type groupForbidden struct {
	Group    string `json:"group"`
	Readable bool   `json:"readable"`
	Topic    string `json:"topic"`
}

// forbid sets whether a group may read a topic, or only tells.
func (a *GroupAdmin) forbid(ex *remoting.Exchange) error {
	var req remoting.UpdateAndGetGroupForbiddenRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	if req.Readable != "" {
		readable, err := strconv.ParseBool(req.Readable)
		if err != nil {
			return remoting.Errorf(remoting.SystemError, "readable=%q is neither true nor false", req.Readable)
		}
		if readable {
			a.Differences.Use(difference.ForbiddenByTopic)
		}
		if err := a.Groups.Forbid(req.Group, req.Topic, !readable); err != nil {
			return err
		}
	}
	return encodeBody(ex, &groupForbidden{
		Group: req.Group, Topic: req.Topic, Readable: !a.Groups.Forbids([]byte(req.Group), []byte(req.Topic)),
	})
}

func (a *GroupAdmin) all(ex *remoting.Exchange) error {
	wrapper := a.Groups.Wrapper()
	ex.Reply.Ext.Int("totalGroupNum", int64(len(wrapper.SubscriptionGroupTable)))
	return encodeBody(ex, wrapper)
}

func (a *GroupAdmin) delete(ex *remoting.Exchange) error {
	var req remoting.DeleteSubscriptionGroupRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	if _, err := a.Groups.Delete(req.GroupName); err != nil {
		return err
	}
	for _, rows := range a.Rows {
		rows.DeleteGroup(req.GroupName)
	}
	if req.CleanOffset {
		for _, rows := range a.Progress {
			rows.DeleteGroup(req.GroupName)
		}
	}
	return nil
}

func (a *GroupAdmin) get(ex *remoting.Exchange) error {
	var req remoting.GetSubscriptionGroupRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	config := a.Groups.Find([]byte(req.Group))
	if config == nil {
		return remoting.Errorf(remoting.SubscriptionGroupNotExist, "No group in this broker")
	}
	return encodeBody(ex, config)
}
