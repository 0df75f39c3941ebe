package processor_test

import (
	"testing"

	"github.com/wheelmq/wheelmq/broker/assignment"
	"github.com/wheelmq/wheelmq/broker/client"
	"github.com/wheelmq/wheelmq/broker/persist"
	"github.com/wheelmq/wheelmq/broker/processor"
	"github.com/wheelmq/wheelmq/remoting"
)

// online are consumer groups by name.
type online map[string]*client.ConsumerGroup

func (o online) Group(name []byte) *client.ConsumerGroup { return o[string(name)] }

// TestAssignments_OfOtherBrokers: a client asks one broker about all.
func TestAssignments_OfOtherBrokers(t *testing.T) {
	t.Parallel()
	routes := (&processor.Assignment{
		BrokerName: "broker-b", Modes: assignment.NewModes(assignment.ModesOptions{Log: quiet()}), Topics: topics{"T": plain("T", 1)},
		Clients: online{"g": {Name: "g", Members: []client.Member{{ClientID: "c1"}}}},
		Elsewhere: func(name string) []remoting.QueueData {
			return []remoting.QueueData{
				{BrokerName: "broker-b", Perm: 6, ReadQueueNums: 9}, {BrokerName: "broker-a", Perm: 6, ReadQueueNums: 1},
				{BrokerName: "broker-a", Perm: 6, ReadQueueNums: 1}, {BrokerName: "broker-c", Perm: 2, ReadQueueNums: 1},
			}
		},
	}).Routes()
	body := `{"clientId":"c1","consumerGroup":"g","messageModel":"CLUSTERING","strategyName":"AVG","topic":"T"}`
	reply := request(t, routes, &conn{}, remoting.QueryAssignment, nil, body)
	want := `{"messageQueueAssignments":[{"messageQueue":{"brokerName":"broker-a","queueId":0,"topic":"T"},"mode":"PULL"},` +
		`{"messageQueue":{"brokerName":"broker-b","queueId":0,"topic":"T"},"mode":"PULL"}]}`
	if string(reply.Body) != want {
		t.Errorf("%s, want %s", reply.Body, want)
	}
}

func TestAssignments(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := func() []remoting.Route {
		return (&processor.Assignment{
			BrokerName: "broker-a",
			Modes:      assignment.NewModes(assignment.ModesOptions{Config: persist.At(dir), Log: quiet(), DefaultShare: -1}),
			Topics:     topics{"T": plain("T", 2), "%RETRY%g": plain("%RETRY%g", 1)},
			Groups:     groups{"g": group("g"), "offline": group("offline")},
			Clients:    online{"g": {Name: "g", Members: []client.Member{{ClientID: "c1"}, {ClientID: "c2"}}}},
		}).Routes()
	}
	routes := config()
	ask := func(topic, group, client, strategy, model string) string {
		return `{"clientId":"` + client + `","consumerGroup":"` + group + `","messageModel":"` + model + `","strategyName":"` + strategy +
			`","topic":"` + topic + `"}`
	}
	entry := func(topic, id, mode string) string {
		return `{"messageQueue":{"brokerName":"broker-a","queueId":` + id + `,"topic":"` + topic + `"},"mode":"` + mode + `"}`
	}
	list := func(entries string) string { return `{"messageQueueAssignments":[` + entries + `]}` }
	const pop = `{"consumerGroup":"g","mode":"POP","popShareQueueNum":8,"topic":"T"}`
	for _, step := range []struct {
		name   string
		code   int32
		body   string
		answer int32
		want   string
	}{
		{"pull", remoting.QueryAssignment, ask("T", "g", "c2", "AVG", "CLUSTERING"), 0, list(entry("T", "1", "PULL"))},
		{"broadcast", remoting.QueryAssignment, ask("T", "g", "c2", "AVG", "BROADCASTING"), 0, list(entry("T", "0", "PULL") + "," + entry("T", "1", "PULL"))},
		{"nobody", remoting.QueryAssignment, ask("T", "g", "c3", "AVG", "CLUSTERING"), 0, list("")},
		{"unknown topic", remoting.QueryAssignment, ask("X", "g", "c1", "AVG", "CLUSTERING"), 0, `{}`},
		{"group offline", remoting.QueryAssignment, ask("T", "offline", "c1", "AVG", "CLUSTERING"), 0, `{}`},
		{"unknown strategy", remoting.QueryAssignment, ask("T", "g", "c1", "MACHINE_ROOM", "CLUSTERING"), 0, `{}`},
		{"broken", remoting.QueryAssignment, `{`, remoting.SystemError, ""},
		{"set", remoting.SetMessageRequestMode, pop, 0, ""},
		{"set of a retry topic", remoting.SetMessageRequestMode, `{"consumerGroup":"g","mode":"POP","topic":"%RETRY%g"}`, remoting.NoPermission, ""},
		{"set of no topic", remoting.SetMessageRequestMode, `{"consumerGroup":"g","mode":"POP","topic":"X"}`, remoting.TopicNotExist, ""},
		{"set of no group", remoting.SetMessageRequestMode, `{"consumerGroup":"x","mode":"POP","topic":"T"}`, remoting.SubscriptionGroupNotExist, ""},
		{"set to nonsense", remoting.SetMessageRequestMode, `{"consumerGroup":"g","mode":"PUSH","topic":"T"}`, remoting.SystemError, ""},
		{"pop", remoting.QueryAssignment, ask("T", "g", "c2", "AVG", "CLUSTERING"), 0, list(entry("T", "-1", "POP"))},
		{"retry topics are pulled", remoting.QueryAssignment, ask("%RETRY%g", "g", "c1", "AVG", "CLUSTERING"), 0, list(entry("%RETRY%g", "0", "PULL"))},
		{"all", remoting.GetAllMessageRequestMode, "", 0, `{"messageRequestModeMap":{"T":{"g":` + pop + `}}}`},
	} {
		reply := request(t, routes, &conn{}, step.code, nil, step.body)
		wantReply(t, reply, step.answer, "")
		if string(reply.Body) != step.want {
			t.Errorf("%s: %s, want %s", step.name, reply.Body, step.want)
		}
	}
	if after := request(t, config(), &conn{}, remoting.GetAllMessageRequestMode, nil, ""); string(after.Body) != `{"messageRequestModeMap":{"T":{"g":`+pop+`}}}` {
		t.Errorf("after a restart: %s", after.Body)
	}
}
