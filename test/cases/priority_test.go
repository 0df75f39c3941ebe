package cases

import (
	"strconv"
	"testing"

	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// TestPriority_IsTheQueue shows what a remoting producer can do with a priority (RIP-80): the server
// puts the message into the queue of that number.
func TestPriority_IsTheQueue(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic := suite.Name(t, "topic")
	c.MustCreateTopic(t, topic, 4)
	const priority = "_SYS_MSG_PRIORITY_"
	for _, tc := range []struct {
		name  string
		props []string
		queue int
		kept  string // the property as it is stored
	}{
		{"lowest", []string{priority, "0"}, 0, "0"},
		{"inside", []string{priority, "2"}, 2, "2"},
		{"beyond the last queue", []string{priority, "9"}, 3, "9"},
		{"negative", []string{priority, "-1"}, 1, "-1"},
		{"no number", []string{priority, "high"}, 1, "high"},
		{"beyond 32 bits", []string{priority, "99999999999"}, 1, "99999999999"},
		{"ordered", []string{priority, "2", "__SHARDINGKEY", "k"}, 1, ""},
		{"delay of none", []string{priority, "2", "DELAY", "0"}, 1, ""},
	} {
		sent := c.MustSend(t, wire.Send{Topic: topic, QueueID: 1, Body: []byte(tc.name), Properties: wire.Properties(tc.props...)})
		if sent.QueueID != tc.queue {
			t.Errorf("%s: the answer names queue %d, want %d", tc.name, sent.QueueID, tc.queue)
			continue
		}
		got := c.MustPull(t, wire.Pull{Group: suite.Name(t, "reader"), Topic: topic, QueueID: tc.queue, Offset: sent.QueueOffset, Suspend: wire.Timeout})
		if len(got.Messages) != 1 || string(got.Messages[0].Body) != tc.name {
			t.Errorf("%s: queue %d has %v", tc.name, tc.queue, got.Frame)
			continue
		}
		if m := got.Messages[0]; m.Properties[priority] != tc.kept {
			t.Errorf("%s: stored with priority %q, want %q", tc.name, m.Properties[priority], tc.kept)
		}
	}
	random := c.MustSend(t, wire.Send{Topic: topic, QueueID: -1, Body: []byte("x"), Properties: wire.Properties(priority, strconv.Itoa(3))})
	if random.QueueID != 3 {
		t.Errorf("a send to any queue went to %d, want 3", random.QueueID)
	}
}
