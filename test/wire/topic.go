package wire

import (
	"encoding/json"
	"strconv"
	"testing"
)

// Topic is a topic's configuration as UPDATE_AND_CREATE_TOPIC (17) takes it.
// Perm 0 is meant as 0; ReadWrite is the usual one.
type Topic struct {
	Name        string
	Read, Write int
	Perm        int
	// Attributes is +key=value, separated by commas.
	Attributes string
}

// CreateTopic sends t and returns the answer.
func (c *Conn) CreateTopic(tb testing.TB, t Topic) *Frame {
	tb.Helper()
	ext := map[string]string{
		"topic": t.Name, "defaultTopic": "TBW102", "readQueueNums": strconv.Itoa(t.Read),
		"writeQueueNums": strconv.Itoa(t.Write), "perm": strconv.Itoa(t.Perm),
		"topicFilterType": "SINGLE_TAG", "topicSysFlag": "0", "order": "false",
	}
	if t.Attributes != "" {
		ext["attributes"] = t.Attributes
	}
	return c.Call(tb, CreateTopic, ext, nil)
}

// MustCreateTopic makes a readable and writable topic of n queues.
func (c *Conn) MustCreateTopic(tb testing.TB, name string, n int) {
	tb.Helper()
	answer := c.CreateTopic(tb, Topic{Name: name, Read: n, Write: n, Perm: ReadWrite})
	if answer.Code != Success {
		tb.Fatalf("create topic %s: %v", name, answer)
	}
}

// Route is the answer of a name server about a topic.
type Route struct {
	Queues []struct {
		BrokerName  string `json:"brokerName"`
		ReadQueues  int    `json:"readQueueNums"`
		WriteQueues int    `json:"writeQueueNums"`
		Perm        int    `json:"perm"`
	} `json:"queueDatas"`
	Brokers []struct {
		Cluster    string            `json:"cluster"`
		BrokerName string            `json:"brokerName"`
		Addrs      map[string]string `json:"brokerAddrs"`
	} `json:"brokerDatas"`
}

// Route asks a name server for a topic's route (105).
func (c *Conn) Route(tb testing.TB, topic string) (Route, *Frame) {
	tb.Helper()
	answer := c.Call(tb, GetRouteByTopic, map[string]string{"topic": topic, "acceptStandardJsonOnly": "true"}, nil)
	var route Route
	if answer.Code == Success {
		if err := json.Unmarshal(answer.Body, &route); err != nil {
			tb.Fatalf("route of %s: %v, body %q", topic, err, answer.Body)
		}
	}
	return route, answer
}
