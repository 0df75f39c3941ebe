package processor_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/broker/client"
	"github.com/wheelmq/wheelmq/broker/processor"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/remoting"
)

// clients is a registry with the requests that fill and read it.
type clients struct {
	registry *client.Registry
	topics   topics
	routes   []remoting.Route
}

func newClients(t testing.TB) *clients {
	t.Helper()
	registry, err := client.New(client.Options{Wire: clock.NewVirtual(0), Log: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	c := &clients{registry: registry, topics: topics{}}
	beat := &processor.Heartbeat{Clients: registry, Groups: groups{"g": group("g")}, Topics: c.topics, Log: quiet()}
	differences, err := difference.NewSet("")
	if err != nil {
		t.Fatal(err)
	}
	admin := &processor.ConsumerAdmin{Clients: registry, Differences: differences}
	c.routes = append(beat.Routes(), admin.Routes()...)
	return c
}

const javaHeartbeat = `{"clientID":"me","consumerDataSet":[{"consumeFromWhere":"CONSUME_FROM_FIRST_OFFSET","consumeType":"CONSUME_PASSIVELY",
	"groupName":"g","messageModel":"CLUSTERING","subscriptionDataSet":[{"classFilterMode":false,"codeSet":[2598919],"expressionType":"TAG",
	"subString":"TagA","subVersion":5,"tagsSet":["TagA"],"topic":"T"}],"unitMode":false},{"groupName":"unknown","messageModel":"CLUSTERING"}],
	"heartbeatFingerprint":0,"producerDataSet":[{"groupName":"p"}],"withoutSub":false}`

func TestHeartbeatRegisters(t *testing.T) {
	t.Parallel()
	c := newClients(t)
	me := &conn{id: 1}
	reply := request(t, c.routes, me, remoting.HeartBeat, nil, javaHeartbeat)
	wantReply(t, reply, remoting.Success, "")
	if v2, changed := field(reply, "IS_SUPPORT_HEART_BEAT_V2"), field(reply, "IS_SUB_CHANGE"); v2 != "true" || changed != "true" {
		t.Errorf("IS_SUPPORT_HEART_BEAT_V2 %s, IS_SUB_CHANGE %s; want true, true", v2, changed)
	}
	if c.topics["%RETRY%g"] == nil {
		t.Error("the group has no retry topic")
	}
	if c.registry.Group([]byte("unknown")) != nil {
		t.Error("a group that may not be created is online")
	}
	sent := me.take()
	if len(sent) != 1 || sent[0].Code != remoting.NotifyConsumerIDsChanged || !sent[0].IsOneway() || field(&sent[0], "consumerGroup") != "g" {
		t.Errorf("the new member is sent %+v, want one oneway notification of g", sent)
	}

	members := request(t, c.routes, me, remoting.GetConsumerListByGroup, ext{"consumerGroup": "g"}, "")
	wantReply(t, members, remoting.Success, "")
	if string(members.Body) != `{"consumerIdList":["me"]}` {
		t.Errorf("members %s", members.Body)
	}
	connections := request(t, c.routes, me, remoting.GetConsumerConnectionList, ext{"consumerGroup": "g"}, "")
	const want = `{"connectionSet":[{"clientAddr":"127.0.0.1:4000","clientId":"me","language":"JAVA","version":513}],` +
		`"consumeFromWhere":"CONSUME_FROM_FIRST_OFFSET","consumeType":"CONSUME_PASSIVELY","messageModel":"CLUSTERING",` +
		`"subscriptionTable":{"T":{"classFilterMode":false,"codeSet":[2598919],"expressionType":"TAG","subString":"TagA",` +
		`"subVersion":5,"tagsSet":["TagA"],"topic":"T"}}}`
	if string(connections.Body) != want {
		t.Errorf("connections %s\nwant        %s", connections.Body, want)
	}
	producers := request(t, c.routes, me, remoting.GetProducerConnectionList, ext{"producerGroup": "p"}, "")
	if !strings.Contains(string(producers.Body), `"clientId":"me"`) {
		t.Errorf("producers %s", producers.Body)
	}
}

func TestUnregisterFreesTheGroup(t *testing.T) {
	t.Parallel()
	c := newClients(t)
	me := &conn{id: 1}
	request(t, c.routes, me, remoting.HeartBeat, nil, javaHeartbeat)
	fields := ext{"clientID": "me", "producerGroup": "p", "consumerGroup": "g"}
	wantReply(t, request(t, c.routes, me, remoting.UnregisterClient, fields, ""), remoting.Success, "")
	for code, want := range map[int32]struct {
		fields ext
		code   int32
		remark string
	}{
		remoting.GetConsumerListByGroup:    {ext{"consumerGroup": "g"}, remoting.SystemError, "no consumer for this group, g"},
		remoting.GetConsumerConnectionList: {ext{"consumerGroup": "g"}, remoting.ConsumerNotOnline, "the consumer group[g] not online"},
		remoting.GetProducerConnectionList: {ext{"producerGroup": "p"}, remoting.SystemError, "the producer group[p] not exist"},
	} {
		wantReply(t, request(t, c.routes, me, code, want.fields, ""), want.code, want.remark)
	}
}

func TestGoClientsSendHashesAsText(t *testing.T) {
	t.Parallel()
	c := newClients(t)
	const body = `{"clientID":"go","consumerDataSet":[{"groupName":"g","consumeType":"CONSUME_PASSIVELY","messageModel":"Clustering",
		"subscriptionDataSet":[{"topic":"T","subString":"TagA","codeSet":["2598919"],"tagsSet":["TagA"],"subVersion":1796003105008000000,"expressionType":"TAG"}]}]}`
	wantReply(t, request(t, c.routes, &conn{id: 1}, remoting.HeartBeat, nil, body), remoting.Success, "")
	s := c.registry.Group([]byte("g")).Subscription([]byte("T"))
	if s == nil || s.Version != 1796003105008000000 || !slices.Equal(s.Codes, []int32{2598919}) {
		t.Errorf("subscription %+v", s)
	}
}

func TestBrokenHeartbeats(t *testing.T) {
	t.Parallel()
	c := newClients(t)
	for _, body := range []string{"", "{bad json", "[]", "null"} {
		reply := request(t, c.routes, &conn{id: 1}, remoting.HeartBeat, nil, body)
		if body == "null" {
			continue // an empty heartbeat: nobody to register
		}
		wantReply(t, reply, remoting.SystemError, "")
		if reply.Remark == "" {
			t.Errorf("body %q: no remark", body)
		}
	}
}

func TestCheckClientConfig(t *testing.T) {
	t.Parallel()
	served, refused := newClients(t), newClients(t)
	served.routes = (&processor.Heartbeat{PropertyFilter: func() bool { return true }}).Routes()
	for _, tt := range []struct {
		clients               *clients
		expressionType, which string
		code                  int32
		remark                string
	}{
		{served, "TAG", "a", remoting.Success, ""},
		{served, "", "||", remoting.Success, ""},
		{served, "SQL92", "a > 1", remoting.Success, ""},
		{served, "SQL92", "a >", remoting.SubscriptionParseFailed,
			`parse the consumer's subscription failed: sql: "a >" is no SQL92 expression: a value is expected at position 4`},
		{served, "REGEX", "a", remoting.SubscriptionParseFailed, `parse the consumer's subscription failed: expression type "REGEX" is unknown`},
		{refused, "SQL92", "a >", remoting.SystemError, "The broker does not support consumer to filter message by SQL92"},
	} {
		body, err := json.Marshal(map[string]any{"clientId": "me", "group": "g", "subscriptionData": map[string]any{
			"topic": "T", "subString": tt.which, "expressionType": tt.expressionType,
		}})
		if err != nil {
			t.Fatal(err)
		}
		reply := request(t, tt.clients.routes, &conn{id: 1}, remoting.CheckClientConfig, nil, string(body))
		wantReply(t, reply, tt.code, tt.remark)
	}
}
