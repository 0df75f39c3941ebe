package wire

import "testing"

// UpdateSubscriptionGroup (200) creates or changes a subscription group.
const UpdateSubscriptionGroup = 200

// Group is a subscription group's configuration as UPDATE_AND_CREATE_SUBSCRIPTIONGROUP takes it.
type Group struct {
	Name string `json:"groupName"`
	// RetryMax is how often a message is delivered again before it is a dead letter.
	RetryMax int `json:"retryMaxTimes"`
	// Orderly makes pops of it ordered: a queue gives nothing out before what it gave out is acknowledged.
	Orderly bool `json:"consumeMessageOrderly"`

	Enabled     bool `json:"consumeEnable"`
	FromMin     bool `json:"consumeFromMinEnable"`
	Broadcast   bool `json:"consumeBroadcastEnable"`
	RetryQueues int  `json:"retryQueueNums"`
	WhichBroker int  `json:"whichBrokerWhenConsumeSlowly"`
}

// MustCreateGroup makes a group that may consume.
func (c *Conn) MustCreateGroup(tb testing.TB, g Group) {
	tb.Helper()
	g.Enabled, g.Broadcast, g.RetryQueues, g.WhichBroker = true, true, 1, 1
	if answer := c.Call(tb, UpdateSubscriptionGroup, nil, mustJSON(tb, g)); answer.Code != Success {
		tb.Fatalf("create group %s: %v", g.Name, answer)
	}
}
