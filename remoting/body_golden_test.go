package remoting_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/remoting/fastjson"
)

// requestBodies and responseBodies make the body struct of a request code.
var requestBodies = map[int32]func() any{
	remoting.HeartBeat:                        func() any { return new(remoting.HeartbeatData) },
	remoting.LockBatchMQ:                      func() any { return new(remoting.LockBatchBody) },
	remoting.UnlockBatchMQ:                    func() any { return new(remoting.LockBatchBody) },
	remoting.RegisterBroker:                   func() any { return new(remoting.RegisterBrokerBody) },
	remoting.QueryDataVersion:                 func() any { return new(remoting.DataVersion) },
	remoting.UpdateAndCreateSubscriptionGroup: func() any { return new(remoting.SubscriptionGroupConfig) },
}

var responseBodies = map[int32]func() any{
	remoting.GetRouteInfoByTopic:           func() any { return new(remoting.TopicRouteData) },
	remoting.GetBrokerClusterInfo:          func() any { return new(remoting.ClusterInfo) },
	remoting.GetAllTopicListFromNameserver: func() any { return new(remoting.TopicList) },
	remoting.GetTopicsByCluster:            func() any { return new(remoting.TopicList) },
	remoting.GetSystemTopicListFromNS:      func() any { return new(remoting.TopicList) },
	remoting.GetSystemTopicListFromBroker:  func() any { return new(remoting.TopicList) },
	remoting.QueryTopicsByConsumer:         func() any { return new(remoting.TopicList) },
	remoting.GetKVListByNamespace:          func() any { return new(remoting.KVTable) },
	remoting.RegisterBroker:                func() any { return new(remoting.KVTable) },
	remoting.GetBrokerRuntimeInfo:          func() any { return new(remoting.KVTable) },
	remoting.GetAllTopicConfig:             func() any { return new(remoting.TopicConfigWrapper) },
	remoting.GetAllSubscriptionGroupConfig: func() any { return new(remoting.SubscriptionGroupWrapper) },
	remoting.GetSubscriptionGroupConfig:    func() any { return new(remoting.SubscriptionGroupConfig) },
	remoting.GetConsumerConnectionList:     func() any { return new(remoting.ConsumerConnection) },
	remoting.GetProducerConnectionList:     func() any { return new(remoting.ProducerConnection) },
	remoting.GetConsumerListByGroup:        func() any { return new(remoting.ConsumerListBody) },
	remoting.LockBatchMQ:                   func() any { return new(remoting.LockBatchResponseBody) },
}

// Every recorded body reads into its struct, and the struct writes all that was recorded.
func TestBodies_Golden(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for _, g := range goldenFrames(t) {
		var cmd remoting.Command
		if err := remoting.Decode(g.raw, &cmd); err != nil {
			t.Fatal(err)
		}
		newBody := requestBodies[g.Code]
		if g.Kind == "response" {
			newBody = responseBodies[g.ReqCode]
		}
		if newBody == nil || len(cmd.Body) == 0 || g.Peer == "raw" || cmd.Code != 0 && g.Kind == "response" || cmd.Body[0] != '{' {
			continue
		}
		body := newBody()
		if err := fastjson.Unmarshal(cmd.Body, body); err != nil {
			t.Errorf("%s:%d: %v", g.file, g.line, err)
			continue
		}
		written, err := fastjson.Marshal(body)
		if err != nil {
			t.Errorf("%s:%d: %v", g.file, g.line, err)
			continue
		}
		var got, want any
		if err := json.Unmarshal(written, &got); err != nil {
			t.Errorf("%s:%d: %v", g.file, g.line, err)
		}
		if err := fastjson.Unmarshal(cmd.Body, &want); err != nil {
			t.Errorf("%s:%d: %v", g.file, g.line, err)
		}
		if lost := firstLost("", want, got); lost != "" {
			t.Errorf("%s:%d: %T: %s", g.file, g.line, body, lost)
		}
		seen[fmt.Sprintf("%T", body)]++
	}
	if len(seen) < 14 {
		t.Errorf("compared %v", seen)
	}
}

// firstLost names the first thing of want that got lacks or has otherwise.
func firstLost(path string, want, got any) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s is %v, want an object", path, got)
		}
		for key, value := range w {
			have, ok := g[key]
			if !ok {
				return fmt.Sprintf("%s.%s is lost", path, key)
			}
			if lost := firstLost(path+"."+key, value, have); lost != "" {
				return lost
			}
		}
	case []any:
		g, _ := got.([]any)
		if len(g) != len(w) {
			return fmt.Sprintf("%s has %d elements, want %d", path, len(g), len(w))
		}
		for i := range w {
			if lost := firstLost(fmt.Sprintf("%s[%d]", path, i), w[i], g[i]); lost != "" {
				return lost
			}
		}
	default:
		if fmt.Sprint(want) != fmt.Sprint(got) {
			return fmt.Sprintf("%s is %v, want %v", path, got, want)
		}
	}
	return ""
}
