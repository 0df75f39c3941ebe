package cases

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// TestMemberGroup_ListsTheBrokersOfAName asks for the members of a broker group (901).
func TestMemberGroup_ListsTheBrokersOfAName(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	c := dialNameServer(t)
	b.register(t, dialNameServer(t))
	ask := func(cluster, name string) (*wire.Frame, string) {
		answer := c.Call(t, wire.GetBrokerMemberGroup, map[string]string{"clusterName": cluster, "brokerName": name}, nil)
		// The real name server does not quote the id.
		return answer, strings.Replace(string(answer.Body), "{0:", `{"0":`, 1)
	}
	answer, got := ask("other", b.name)
	wantCode(t, "members of a registered broker", answer, wire.Success)
	if want := `{"brokerMemberGroup":{"brokerAddrs":{"0":"` + b.addr + `"},"brokerName":"` + b.name + `","cluster":"other"}}`; got != want {
		t.Errorf("members %s, want %s", got, want)
	}
	answer, got = ask("DefaultCluster", "no-such-broker")
	wantCode(t, "members of an unknown broker", answer, wire.Success)
	if want := `{"brokerMemberGroup":{"brokerAddrs":{},"brokerName":"no-such-broker","cluster":"DefaultCluster"}}`; got != want {
		t.Errorf("members %s, want %s", got, want)
	}
}

// TestDataVersion_TellsWhetherToRegisterAgain asks a name server whether it has a broker's topics
// as they are (322).
func TestDataVersion_TellsWhetherToRegisterAgain(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	c := dialNameServer(t)
	ask := func(version dataVersion) (changed string, known *dataVersion) {
		body, err := json.Marshal(version)
		if err != nil {
			t.Fatal(err)
		}
		answer := c.Call(t, wire.QueryDataVersion, b.header(), body)
		wantCode(t, "query of the data version", answer, wire.Success)
		if len(answer.Body) != 0 {
			known = new(dataVersion)
			if err := json.Unmarshal(answer.Body, known); err != nil {
				t.Fatalf("data version %q: %v", answer.Body, err)
			}
		}
		return answer.Ext["changed"], known
	}
	mine := dataVersion{Counter: 1, Timestamp: time.Now().UnixMilli()}
	if changed, known := ask(mine); changed != "true" || known != nil {
		t.Errorf("of a broker that is not registered: changed %q, version %v; want true and none", changed, known)
	}
	b.registerAt(t, dialNameServer(t), mine)
	if changed, known := ask(mine); changed != "false" || known == nil || *known != mine {
		t.Errorf("of the version that is registered: changed %q, version %v; want false and %v", changed, known, mine)
	}
	newer := dataVersion{Counter: 2, Timestamp: mine.Timestamp}
	if changed, known := ask(newer); changed != "true" || known == nil || *known != mine {
		t.Errorf("of a newer version: changed %q, version %v; want true and %v", changed, known, mine)
	}
}

// TestRegisterTopic_AddsToTheBrokersThatAreThere adds a topic to a broker that is registered, and to one
// that is not (217).
func TestRegisterTopic_AddsToTheBrokersThatAreThere(t *testing.T) {
	t.Parallel()
	b, absent := newBroker(t), newBroker(t)
	c := dialNameServer(t)
	b.register(t, dialNameServer(t))
	topic := suite.Name(t, "added")
	queue := func(broker string) map[string]any {
		return map[string]any{"brokerName": broker, "readQueueNums": 3, "writeQueueNums": 2, "perm": wire.ReadWrite, "topicSysFlag": 0}
	}
	add := func(topic string, brokers ...string) *wire.Frame {
		route := map[string]any{"brokerDatas": []any{}, "filterServerTable": map[string]any{}, "queueDatas": []any{}}
		for _, name := range brokers {
			route["queueDatas"] = append(route["queueDatas"].([]any), queue(name))
		}
		body, err := json.Marshal(route)
		if err != nil {
			t.Fatal(err)
		}
		return c.Call(t, wire.RegisterTopicInNameServer, map[string]string{"topic": topic}, body)
	}
	wantCode(t, "add to a registered broker", add(topic, b.name), wire.Success)
	route, answer := c.Route(t, topic)
	wantCode(t, "route of the added topic", answer, wire.Success)
	if len(route.Queues) != 1 || route.Queues[0].BrokerName != b.name || route.Queues[0].ReadQueues != 3 || route.Queues[0].WriteQueues != 2 {
		t.Errorf("the route is %+v, want 3 queues to read and 2 to write on %s", route, b.name)
	}
	nowhere := suite.Name(t, "nowhere")
	wantCode(t, "add to a broker that is not registered", add(nowhere, absent.name), wire.Success)
	_, answer = c.Route(t, nowhere)
	wantCode(t, "route of a topic that no broker has", answer, wire.TopicNotExist)
}

// TestQueueNumbersThatDiffer_AreAllShown is case BR-47: statistics listed only the queues of the smaller number.
func TestQueueNumbersThatDiffer_AreAllShown(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic := suite.Name(t, "topic")
	wantCode(t, "create", c.CreateTopic(t, wire.Topic{Name: topic, Read: 8, Write: 4, Perm: wire.ReadWrite}), wire.Success)
	answer := c.Call(t, wire.GetTopicStatsInfo, map[string]string{"topic": topic}, nil)
	wantCode(t, "statistics", answer, wire.Success)
	stats := string(answer.Body)
	// The keys of the table are objects, which is no JSON: counted as text.
	if n := strings.Count(stats, `"maxOffset":0`); n != 8 || strings.Count(stats, `"minOffset":0`) != 8 {
		t.Errorf("statistics of %d queues, want 8 from 0 to 0: %s", n, stats)
	}
	suite.Eventually(t, wire.Timeout, "the route shows both numbers", func() bool {
		route, answer := dialNameServer(t).Route(t, topic)
		return answer.Code == wire.Success && len(route.Queues) == 1 && route.Queues[0].ReadQueues == 8 && route.Queues[0].WriteQueues == 4
	})
}

// TestUnknownStatistics_SayWhich is case BR-63.
func TestUnknownStatistics_SayWhich(t *testing.T) {
	t.Parallel()
	answer := dialBroker(t).Call(t, wire.ViewBrokerStatsData, map[string]string{"statsName": "TOPIC_PUT_NUMS", "statsKey": "nosuch"}, nil)
	wantCode(t, "statistics", answer, wire.SystemError)
	if want := "The stats <TOPIC_PUT_NUMS> <nosuch> not exist"; answer.Remark != want {
		t.Errorf("remark %q, want %q", answer.Remark, want)
	}
}

// TestGroupWithoutProgress_HasEmptyStatistics is case BR-64.
func TestGroupWithoutProgress_HasEmptyStatistics(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	group, topic := suite.Name(t, "group"), suite.Name(t, "topic")
	c.MustCreateTopic(t, topic, 1)
	wire.Introduce(t, suite.Server().BrokerAddr, group, topic)
	answer := c.Call(t, wire.GetConsumeStats, map[string]string{"consumerGroup": group}, nil)
	wantCode(t, "progress", answer, wire.Success)
	if !strings.Contains(string(answer.Body), `"offsetTable":{}`) {
		t.Errorf("progress %s, want an empty table", answer.Body)
	}
	answer = c.Call(t, wire.GetConsumerConnectionList, map[string]string{"consumerGroup": group}, nil)
	wantCode(t, "connections", answer, wire.ConsumerNotOnline)
	if want := "the consumer group[" + group + "] not online"; answer.Remark != want {
		t.Errorf("remark %q, want %q", answer.Remark, want)
	}
}
