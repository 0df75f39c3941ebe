package cases

import (
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// popRefusals are requests that must be refused, with code and the beginning of the remark.
func popRefusals(topic, group string) []struct {
	name   string
	code   int
	header map[string]string
	want   int
	remark string
} {
	pop := func(change ...string) map[string]string {
		header := wire.Pop{Group: group, Topic: topic, QueueID: wire.AnyQueue}.Header()
		for i := 0; i < len(change); i += 2 {
			header[change[i]] = change[i+1]
		}
		return header
	}
	const good = "0 1796003290480 15000 4 0 broker-a 0 0"
	handle := func(change ...string) map[string]string {
		header := map[string]string{
			"consumerGroup": group, "topic": topic, "queueId": "0", "offset": "0", "extraInfo": good, "invisibleTime": "1000",
		}
		for i := 0; i < len(change); i += 2 {
			header[change[i]] = change[i+1]
		}
		return header
	}
	return []struct {
		name   string
		code   int
		header map[string]string
		want   int
		remark string
	}{
		{"late", wire.PopMessage, pop("bornTime", "1000"), wire.PollingTimeout, "the broker["},
		{"33 messages", wire.PopMessage, pop("maxMsgNums", "33"), wire.InvalidParameter, "the broker["},
		{"unknown topic", wire.PopMessage, pop("topic", topic+"-nope"), wire.TopicNotExist, "topic["},
		{"bad queue", wire.PopMessage, pop("queueId", "55"), wire.InvalidParameter, "queueId[55] is illegal, topic:["},
		{"bad SQL", wire.PopMessage, pop("expType", "SQL92", "exp", "a >>> 1"), wire.SubscriptionBroken, "parse the consumer's subscription failed"},
		{"notification of no topic", wire.Notification, pop("topic", topic+"-nope"), wire.TopicNotExist, "topic["},
		{"notification of a bad queue", wire.Notification, pop("queueId", "55"), wire.InvalidParameter, "queueId[55] is illegal, topic:["},
		{"peek of no topic", wire.PeekMessage, pop("topic", topic+"-nope"), wire.TopicNotExist, "topic["},
		{"polling info of no topic", wire.PollingInfo, pop("topic", topic+"-nope"), wire.TopicNotExist, "topic["},
		{"ack of no topic", wire.AckMessage, handle("topic", topic+"-nope"), wire.TopicNotExist, "topic["},
		{"ack of a bad queue", wire.AckMessage, handle("queueId", "88"), wire.MessageIllegal, "queueId[88] is illegal, topic:["},
		{"ack past the end", wire.AckMessage, handle("offset", "99999"), wire.NoMessage, "offset is illegal, key:" + topic + "@0, commit:99999, store:0~1"},
		{"ack with nonsense", wire.AckMessage, handle("extraInfo", "nonsense"), wire.SystemError, ""},
		{"ack with half a handle", wire.AckMessage, handle("extraInfo", "0 1796003290480 15000"), wire.SystemError, ""},
		{"change of no topic", wire.ChangeInvisibleTime, handle("topic", topic+"-nope"), wire.TopicNotExist, "topic["},
		{"change of a bad queue", wire.ChangeInvisibleTime, handle("queueId", "88"), wire.MessageIllegal, "queueId[88] is illegal, topic:["},
		{"change past the end", wire.ChangeInvisibleTime, handle("offset", "1"), wire.NoMessage, ""},
		{"change with nonsense", wire.ChangeInvisibleTime, handle("extraInfo", "nonsense"), wire.SystemError, ""},
		{"a stale ack", wire.AckMessage, handle(), wire.Success, ""},
		{"a foreign ack", wire.AckMessage, handle("consumerGroup", "foreign"), wire.Success, ""},
		{"a stale change", wire.ChangeInvisibleTime, handle(), wire.Success, ""},
		{"a batch of nothing", wire.BatchAckMessage, nil, wire.NoMessage, ""},
	}
}

// TestPop_Refusals sees the answers to pops and handles that are wrong.
func TestPop_Refusals(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic, group := filled(t, c, 1, 1)
	for _, r := range popRefusals(topic, group) {
		answer := c.Call(t, r.code, r.header, nil)
		if answer.Code != r.want || !strings.HasPrefix(answer.Remark, r.remark) {
			t.Errorf("%s: %v, want code %d, %s…", r.name, answer, r.want, r.remark)
		}
		if r.code == wire.PopMessage && r.want != wire.Success {
			for _, name := range []string{"popTime", "invisibleTime", "reviveQid", "restNum"} {
				if answer.Ext[name] != "0" {
					t.Errorf("%s: %s is %q, want 0", r.name, name, answer.Ext[name])
				}
			}
		}
	}
	writeOnly := suite.Name(t, "write-only")
	c.CreateTopic(t, wire.Topic{Name: writeOnly, Read: 1, Write: 1, Perm: 2})
	answer := c.Call(t, wire.PopMessage, wire.Pop{Group: group, Topic: writeOnly}.Header(), nil)
	wantCode(t, "write only", answer, wire.NoPermission)
	if want := "the topic[" + writeOnly + "] peeking message is forbidden"; answer.Remark != want {
		t.Errorf("write only: %q, want %q", answer.Remark, want)
	}
}
