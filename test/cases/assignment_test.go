package cases

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// assignments asks for a client's share of a topic (400), as "queue mode" in order; nil is no answer.
func assignments(t *testing.T, c *wire.Conn, topic, group, client, strategy string) []string {
	t.Helper()
	answer := c.Call(t, wire.QueryAssignment, nil, fmt.Appendf(nil,
		`{"clientId":%q,"consumerGroup":%q,"messageModel":"CLUSTERING","strategyName":%q,"topic":%q}`, client, group, strategy, topic))
	wantCode(t, "query assignment", answer, wire.Success)
	var body struct {
		Assignments []struct {
			MessageQueue wire.Queue `json:"messageQueue"`
			Mode         string     `json:"mode"`
		} `json:"messageQueueAssignments"`
	}
	if err := json.Unmarshal(answer.Body, &body); err != nil {
		t.Fatalf("%s: %v", answer.Body, err)
	}
	if body.Assignments == nil {
		return nil
	}
	list := []string{}
	for _, a := range body.Assignments {
		if a.MessageQueue.Topic != topic || a.MessageQueue.BrokerName == "" {
			t.Errorf("a queue of another topic: %s", answer.Body)
		}
		list = append(list, fmt.Sprint(a.MessageQueue.QueueID, " ", a.Mode))
	}
	slices.Sort(list)
	return list
}

// TestAssignments_AreDividedByTheBroker sees the shares that clients get who leave it to the broker
// (setClientRebalance(false)), pulling, then popping.
func TestAssignments_AreDividedByTheBroker(t *testing.T) {
	t.Parallel()
	c, d := dialBroker(t), dialBroker(t)
	topic, group := suite.Name(t, "topic"), suite.Name(t, "group")
	c.MustCreateTopic(t, topic, 4)
	members := map[string]*wire.Conn{"c1": c, "c2": d}
	for client, conn := range members {
		conn.Heartbeat(t, wire.Member{ClientID: client, Group: group, Subscriptions: map[string]string{topic: "*"}})
	}
	ask := func(client, strategy string) []string { return assignments(t, c, topic, group, client, strategy) }
	// The real broker learns of a topic's queues from the name server.
	suite.Eventually(t, slow, "c1 has two queues", func() bool { return len(ask("c1", "AVG")) == 2 })
	want := func(what string, got, want []string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	want("c1", ask("c1", "AVG"), []string{"0 PULL", "1 PULL"})
	want("c2", ask("c2", "AVG"), []string{"2 PULL", "3 PULL"})
	want("c2 by circle", ask("c2", "AVG_BY_CIRCLE"), []string{"1 PULL", "3 PULL"})
	want("a stranger", ask("c3", "AVG"), []string{})
	want("an unknown strategy", ask("c1", "nonsense"), nil)
	want("an unknown topic", assignments(t, c, suite.Name(t, "unknown"), group, "c1", "AVG"), nil)
	want("an unknown group", assignments(t, c, topic, suite.Name(t, "nobody"), "c1", "AVG"), nil)

	mode := func(topic string, share int) *wire.Frame {
		return c.Call(t, wire.SetMessageRequestMode, nil, fmt.Appendf(nil,
			`{"consumerGroup":%q,"mode":"POP","popShareQueueNum":%d,"topic":%q}`, group, share, topic))
	}
	wantCode(t, "mode of a retry topic", mode("%RETRY%"+group, 8), wire.NoPermission)
	wantCode(t, "mode of no topic", mode(suite.Name(t, "unknown"), 8), wire.TopicNotExist)
	wantCode(t, "mode", mode(topic, 8), wire.Success)
	want("popping", ask("c1", "AVG"), []string{"-1 POP"})
	want("a stranger that pops", ask("c3", "AVG"), []string{"-1 POP"})
	all := c.Call(t, wire.GetAllMessageRequestMode, nil, nil)
	wantCode(t, "all modes", all, wire.Success)
	var table struct {
		Modes map[string]map[string]struct{ Mode string } `json:"messageRequestModeMap"`
	}
	if err := json.Unmarshal(all.Body, &table); err != nil || table.Modes[topic][group].Mode != "POP" {
		t.Errorf("all modes: %s, %v", all.Body, err)
	}
}
