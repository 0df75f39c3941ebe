package cases

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// Request codes of configurations (RocketMQ 5.5.0).
const (
	codeTopicList   = 18
	codeTopicConfig = 351
	codeGroupConfig = 352
)

// attributesOf asks for a configuration and returns its attributes, in order.
func attributesOf(t *testing.T, c *wire.Conn, code int, field, name string) string {
	t.Helper()
	answer := c.Call(t, code, map[string]string{field: name}, nil)
	wantCode(t, "configuration", answer, wire.Success)
	var config struct{ Attributes map[string]string }
	if err := json.Unmarshal(answer.Body, &config); err != nil {
		t.Fatalf("configuration: %s, %v", answer.Body, err)
	}
	return fmt.Sprint(config.Attributes)
}

// TestTopicAttributes are edited: what an update does not name stays.
func TestTopicAttributes(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic := suite.Name(t, "topic")
	put := func(edits string) *wire.Frame {
		return c.CreateTopic(t, wire.Topic{Name: topic, Read: 1, Write: 1, Perm: wire.ReadWrite, Attributes: edits})
	}
	wantCode(t, "create with a removal", put("-message.type"), wire.SystemError)
	for _, tc := range []struct {
		edits string
		code  int
		want  string
	}{
		{"+message.type=DELAY,+queue.type=SimpleCQ", wire.Success, "map[message.type:DELAY queue.type:SimpleCQ]"},
		{"", wire.Success, "map[message.type:DELAY queue.type:SimpleCQ]"},
		{"+message.type=FIFO,+reserve.time=5", wire.Success, "map[message.type:FIFO queue.type:SimpleCQ reserve.time:5]"},
		{"-reserve.time", wire.Success, "map[message.type:FIFO queue.type:SimpleCQ]"},
		{"-reserve.time", wire.SystemError, "map[message.type:FIFO queue.type:SimpleCQ]"},
		{"+queue.type=SimpleCQ", wire.SystemError, "map[message.type:FIFO queue.type:SimpleCQ]"},
		{"-queue.type", wire.SystemError, "map[message.type:FIFO queue.type:SimpleCQ]"},
		{"+message.type=fifo", wire.SystemError, "map[message.type:FIFO queue.type:SimpleCQ]"},
		{"+reserve.time=-2", wire.SystemError, "map[message.type:FIFO queue.type:SimpleCQ]"},
		{"+reserve.time=soon", wire.SystemError, "map[message.type:FIFO queue.type:SimpleCQ]"},
		{"message.type=DELAY", wire.SystemError, "map[message.type:FIFO queue.type:SimpleCQ]"},
		{"+message.type", wire.SystemError, "map[message.type:FIFO queue.type:SimpleCQ]"},
		{"+message.type=DELAY,-message.type", wire.SystemError, "map[message.type:FIFO queue.type:SimpleCQ]"},
		{"-message.type", wire.Success, "map[queue.type:SimpleCQ]"},
	} {
		wantCode(t, tc.edits, put(tc.edits), tc.code)
		if got := attributesOf(t, c, codeTopicConfig, "topic", topic); got != tc.want {
			t.Errorf("after %q: %s, want %s", tc.edits, got, tc.want)
		}
	}

	listed := suite.Name(t, "listed")
	list := func(attributes string) *wire.Frame {
		return c.Call(t, codeTopicList, nil, fmt.Appendf(nil, `{"topicConfigList":[{"topicName":%q,"readQueueNums":1,"writeQueueNums":1,`+
			`"perm":6,"topicFilterType":"SINGLE_TAG","attributes":%s}]}`, listed, attributes))
	}
	wantCode(t, "an unknown one in a list", list(`{"+nonsense":"1"}`), wire.SystemError)
	wantCode(t, "a list", list(`{"+message.type":"DELAY"}`), wire.Success)
	if got := attributesOf(t, c, codeTopicConfig, "topic", listed); got != "map[message.type:DELAY]" {
		t.Errorf("after a list: %s", got)
	}
}

// TestGroupAttributes are edited as those of topics.
func TestGroupAttributes(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	group := suite.Name(t, "group")
	for _, tc := range []struct {
		edits string
		code  int
		want  string
	}{
		{`{"+priority.factor":"5"}`, wire.Success, "map[priority.factor:5]"},
		{`{}`, wire.Success, "map[priority.factor:5]"},
		{`{"+priority.factor":"101"}`, wire.SystemError, "map[priority.factor:5]"},
		{`{"priority.factor":"6"}`, wire.SystemError, "map[priority.factor:5]"},
		{`{"+nonsense":"1"}`, wire.SystemError, "map[priority.factor:5]"},
		{`{"-priority.factor":""}`, wire.Success, "map[]"},
	} {
		answer := c.Call(t, wire.UpdateSubscriptionGroup, nil, fmt.Appendf(nil, `{"groupName":%q,"attributes":%s}`, group, tc.edits))
		wantCode(t, tc.edits, answer, tc.code)
		if got := attributesOf(t, c, codeGroupConfig, "group", group); got != tc.want {
			t.Errorf("after %s: %s, want %s", tc.edits, got, tc.want)
		}
	}
}
