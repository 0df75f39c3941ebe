package processor

import (
	"github.com/wheelmq/wheelmq/broker/subscription"
	"github.com/wheelmq/wheelmq/remoting"
)

type (
	groupAdmin interface {
		Find(group []byte) *subscription.Config
		Update(config subscription.Config) error
		Delete(group string) (bool, error)
		Wrapper() remoting.SubscriptionGroupWrapper
	}
	// GroupRows is a table with rows per group.
	GroupRows interface {
		DeleteGroup(group string)
	}
)

// GroupAdmin serves UPDATE_AND_CREATE_SUBSCRIPTIONGROUP (200),
// GET_ALL_SUBSCRIPTIONGROUP_CONFIG (201), DELETE_SUBSCRIPTIONGROUP (207) and
// GET_SUBSCRIPTIONGROUP_CONFIG (352). Paging fields of 201 are ignored: everything is answered.
type GroupAdmin struct {
	Groups groupAdmin
	// Rows are the tables that forget a deleted group; Offsets does so only when asked.
	Rows    []GroupRows
	Offsets GroupRows
}

// Routes returns the table rows.
func (a *GroupAdmin) Routes() []remoting.Route {
	const test = "broker/processor/topic_admin_test.go"
	return []remoting.Route{
		{Code: remoting.UpdateAndCreateSubscriptionGroup, Name: "UPDATE_AND_CREATE_SUBSCRIPTIONGROUP", Class: remoting.Admin, Handler: a.update, Since: "3.0", Test: test},
		{Code: remoting.GetAllSubscriptionGroupConfig, Name: "GET_ALL_SUBSCRIPTIONGROUP_CONFIG", Class: remoting.Admin, Handler: a.all, Since: "3.0", Test: test},
		{Code: remoting.DeleteSubscriptionGroup, Name: "DELETE_SUBSCRIPTIONGROUP", Class: remoting.Admin, Handler: a.delete, Since: "3.0", Test: test},
		{Code: remoting.GetSubscriptionGroupConfig, Name: "GET_SUBSCRIPTIONGROUP_CONFIG", Class: remoting.Admin, Handler: a.get, Since: "4.9", Test: test},
	}
}

func (a *GroupAdmin) update(ex *remoting.Exchange) error {
	config := remoting.DefaultSubscriptionGroupConfig("")
	if err := decodeBody(ex, &config); err != nil {
		return err
	}
	return a.Groups.Update(config)
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
		a.Offsets.DeleteGroup(req.GroupName)
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
