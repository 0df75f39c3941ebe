package processor_test

import (
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/broker/persist"
	"github.com/wheelmq/wheelmq/broker/processor"
	"github.com/wheelmq/wheelmq/broker/subscription"
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

// deleted records what tables are told to forget.
type deleted []string

func (d *deleted) DeleteTopic(name string) { *d = append(*d, name) }
func (d *deleted) DeleteGroup(name string) { *d = append(*d, name) }

// data is the store's side of deleting topics.
type data struct{ *deleted }

func (d data) DeleteTopic(name string) error {
	d.deleted.DeleteTopic(name)
	return nil
}

func TestTopicAdmin(t *testing.T) {
	t.Parallel()
	differences, err := difference.NewSet("")
	check(t, err)
	topics, err := topic.New(topic.Options{
		Store: clock.Real{}, Log: quiet(), Differences: differences, Cluster: "C", Broker: "B", AutoCreate: true,
		DefaultQueueNums: 8, ScheduleQueues: 18, Config: persist.At(t.TempDir()),
	})
	check(t, err)
	var rows deleted
	routes := (&processor.TopicAdmin{
		Topics: topics, Data: data{&rows}, Rows: []processor.TopicRows{&rows}, Differences: differences,
	}).Routes()
	create := func(name, attributes string) *remoting.Command {
		return request(t, routes, &conn{}, remoting.UpdateAndCreateTopic, ext{
			"topic": name, "defaultTopic": "TBW102", "readQueueNums": "8", "writeQueueNums": "4", "perm": "6",
			"topicFilterType": "SINGLE_TAG", "topicSysFlag": "0", "order": "false", "attributes": attributes,
		}, "")
	}
	for name, code := range map[string]int32{
		"a.b": 29, "a b": 29, "中文": 29, "a+b": 29, strings.Repeat("t", 128): 29, "": 29, "TBW102": 29,
		message.TopicSchedule: 29, "B": 29, strings.Repeat("t", 127): 0, "a|b%c-d_": 0, "T": 0,
	} {
		if reply := create(name, ""); reply.Code != code {
			t.Errorf("create %q: code %d %q, want %d", name, reply.Code, reply.Remark, code)
		}
	}
	for _, n := range []string{"2147483647", "65537", "-1"} {
		reply := request(t, routes, &conn{}, remoting.UpdateAndCreateTopic, ext{
			"topic": "Huge", "readQueueNums": n, "writeQueueNums": "4", "perm": "6",
		}, "")
		wantReply(t, reply, remoting.InvalidParameter, "")
	}
	wantReply(t, create("Attributed", "+message.type=DELAY"), remoting.Success, "")
	wantReply(t, create("T2", "+nonsense=1"), remoting.SystemError, "unsupported key: nonsense")
	for attribute, value := range map[string]string{
		"cleanup.policy": "COMPACTION", "queue.type": "BatchCQ", "message.type": "LITE",
	} {
		wantReply(t, create("T3", "+"+attribute+"="+value), remoting.SystemError,
			"value "+value+" of attribute "+attribute+" is not supported")
	}

	got := request(t, routes, &conn{}, remoting.GetTopicConfig, ext{"topic": "T"}, "")
	if body := string(got.Body); !strings.Contains(body, `"readQueueNums":8`) || !strings.Contains(body, `"writeQueueNums":4`) {
		t.Errorf("topic config %s", body)
	}
	all := request(t, routes, &conn{}, remoting.GetAllTopicConfig, nil, "")
	if !strings.Contains(string(all.Body), `"Attributed"`) || !strings.Contains(string(all.Body), `"message.type":"DELAY"`) {
		t.Errorf("topic table %s", all.Body)
	}
	system := request(t, routes, &conn{}, remoting.GetSystemTopicListFromBroker, nil, "")
	if !strings.Contains(string(system.Body), message.TopicSchedule) {
		t.Errorf("system topics %s", system.Body)
	}
	wantReply(t, create("Attributed", ""), remoting.Success, "")
	if got := topics.GetString("Attributed").Attributes["message.type"]; got != "DELAY" {
		t.Errorf("a change that names no attributes left message.type=%q", got)
	}
	wantReply(t, create("Attributed", "-message.type"), remoting.Success, "")
	if got := topics.GetString("Attributed").Attributes; len(got) != 0 {
		t.Errorf("attributes %v after the last is removed", got)
	}
	wantReply(t, request(t, routes, &conn{}, remoting.UpdateAndCreateTopicList, nil,
		`{"topicConfigList":[{"topicName":"T3","perm":6,"attributes":{"+cleanup.policy":"COMPACTION"}}]}`), remoting.SystemError, "")
	list := `{"topicConfigList":[{"topicName":"T","readQueueNums":8,"writeQueueNums":4,"perm":6,"topicFilterType":"SINGLE_TAG"},
		{"topicName":"New","readQueueNums":1,"writeQueueNums":1,"perm":6,"topicFilterType":"SINGLE_TAG"}]}`
	wantReply(t, request(t, routes, &conn{}, remoting.UpdateAndCreateTopicList, nil, list), remoting.Success, "")
	if topics.GetString("New") == nil {
		t.Error("the list stops at an entry that changes nothing")
	}

	wantReply(t, request(t, routes, &conn{}, remoting.DeleteTopicInBroker, ext{"topic": "T"}, ""), remoting.Success, "")
	wantReply(t, request(t, routes, &conn{}, remoting.DeleteTopicInBroker, ext{"topic": "Unknown"}, ""), remoting.Success, "")
	wantReply(t, request(t, routes, &conn{}, remoting.DeleteTopicInBroker, ext{"topic": "TBW102"}, ""), remoting.InvalidParameter, "")
	if len(rows) != 2 || rows[0] != "T" || topics.GetString("T") != nil {
		t.Errorf("told to forget: %v", rows)
	}
	wantReply(t, request(t, routes, &conn{}, remoting.GetTopicConfig, ext{"topic": "T"}, ""), remoting.TopicNotExist, "")
}

func TestGroupAdmin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open := func() *subscription.Table {
		table, err := subscription.New(subscription.Options{Store: clock.Real{}, Log: quiet(), Config: persist.At(dir)})
		check(t, err)
		return table
	}
	var rows, offsets deleted
	groups := open()
	routes := (&processor.GroupAdmin{Groups: groups, Rows: []processor.GroupRows{&rows}, Progress: []processor.GroupRows{&offsets}}).Routes()
	wantReply(t, request(t, routes, &conn{}, remoting.UpdateAndCreateSubscriptionGroup, nil, `{"groupName":"g","retryMaxTimes":2}`), remoting.Success, "")
	wantReply(t, request(t, routes, &conn{}, remoting.UpdateAndCreateSubscriptionGroup, nil, `{"groupName":"a b"}`), remoting.InvalidParameter, "")
	if config := open().Get("g"); config == nil || config.RetryMaxTimes != 2 || !config.ConsumeEnable || config.RetryQueueNums != 1 {
		t.Errorf("saved group: %+v", config)
	}
	got := request(t, routes, &conn{}, remoting.GetSubscriptionGroupConfig, ext{"group": "g"}, "")
	if !strings.Contains(string(got.Body), `"retryMaxTimes":2`) {
		t.Errorf("group config %s", got.Body)
	}
	wantReply(t, request(t, routes, &conn{}, remoting.GetSubscriptionGroupConfig, ext{"group": "unknown"}, ""), remoting.SubscriptionGroupNotExist, "")
	all := request(t, routes, &conn{}, remoting.GetAllSubscriptionGroupConfig, nil, "")
	if !strings.Contains(string(all.Body), `"g"`) {
		t.Errorf("group table %s", all.Body)
	}
	wantReply(t, request(t, routes, &conn{}, remoting.DeleteSubscriptionGroup, ext{"groupName": "g"}, ""), remoting.Success, "")
	if len(rows) != 1 || len(offsets) != 0 {
		t.Errorf("forgotten: rows %v, offsets %v", rows, offsets)
	}
	wantReply(t, request(t, routes, &conn{}, remoting.DeleteSubscriptionGroup, ext{"groupName": "g2", "cleanOffset": "true"}, ""), remoting.Success, "")
	if len(offsets) != 1 {
		t.Errorf("offsets of a group deleted with its offsets are kept")
	}
}

func TestGroupListAndForbidden(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open := func() (*subscription.Table, []remoting.Route) {
		groups, err := subscription.New(subscription.Options{Store: clock.Real{}, Log: quiet(), Config: persist.At(dir)})
		check(t, err)
		differences, err := difference.NewSet("")
		check(t, err)
		return groups, (&processor.GroupAdmin{Groups: groups, Progress: []processor.GroupRows{&deleted{}}, Differences: differences}).Routes()
	}
	groups, routes := open()
	list := func(body string) *remoting.Command {
		return request(t, routes, &conn{}, remoting.UpdateAndCreateSubscriptionGroupList, nil, body)
	}
	wantReply(t, list(`{"groupConfigList":[{"groupName":"g"},{"groupName":"a b"}]}`), remoting.InvalidParameter, "")
	if groups.Get("g") != nil {
		t.Error("a list with an illegal name is applied in part")
	}
	wantReply(t, list(`{"groupConfigList":[{"groupName":"g","retryMaxTimes":5},{"groupName":"h"}]}`), remoting.Success, "")
	if g, h := groups.Get("g"), groups.Get("h"); g == nil || g.RetryMaxTimes != 5 || !g.ConsumeEnable || h == nil || h.RetryMaxTimes != 16 {
		t.Errorf("created %+v, %+v", g, h)
	}
	forbid := func(topicName, readable, want string) {
		t.Helper()
		fields := ext{"group": "g", "topic": topicName}
		if readable != "" {
			fields["readable"] = readable
		}
		reply := request(t, routes, &conn{}, remoting.UpdateAndGetGroupForbidden, fields, "")
		wantReply(t, reply, remoting.Success, "")
		if got := string(reply.Body); got != `{"group":"g","readable":`+want+`,"topic":"`+topicName+`"}` {
			t.Errorf("%s %s: %s", topicName, readable, got)
		}
	}
	forbid("T", "", "true")
	forbid("T", "false", "false")
	forbid("U", "false", "false")
	forbid("T", "true", "true")
	if groups, routes = open(); groups.Forbids([]byte("g"), []byte("T")) || !groups.Forbids([]byte("g"), []byte("U")) {
		t.Error("after a restart something else is forbidden")
	}
	forbid("U", "", "false")
	if reply := request(t, routes, &conn{}, remoting.UpdateAndGetGroupForbidden, ext{"group": "g", "topic": "T", "readable": "x"}, ""); reply.Code == remoting.Success {
		t.Error("readable=x is taken")
	}
	wantReply(t, request(t, routes, &conn{}, remoting.DeleteSubscriptionGroup, ext{"groupName": "g"}, ""), remoting.Success, "")
	forbid("U", "", "true")
}
