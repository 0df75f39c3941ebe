package wire

import (
	"encoding/json"
	"maps"
	"strconv"
	"testing"
	"time"
)

// Queue names a message queue in JSON bodies.
type Queue struct {
	BrokerName string `json:"brokerName"`
	QueueID    int    `json:"queueId"`
	Topic      string `json:"topic"`
}

// Member is a consumer as it presents itself in heartbeats.
type Member struct {
	ClientID, Group string
	// Subscriptions maps topics to expressions.
	Subscriptions map[string]string
	// ExpressionType is TAG when empty.
	ExpressionType string
}

// Heartbeat announces a push consumer (34).
func (c *Conn) Heartbeat(tb testing.TB, m Member) *Frame {
	tb.Helper()
	type subscription struct {
		Topic          string   `json:"topic"`
		SubString      string   `json:"subString"`
		TagsSet        []string `json:"tagsSet"`
		CodeSet        []int    `json:"codeSet"`
		SubVersion     int64    `json:"subVersion"`
		ExpressionType string   `json:"expressionType"`
	}
	subscriptions := []subscription{}
	if m.ExpressionType == "" {
		m.ExpressionType = "TAG"
	}
	for topic, expression := range m.Subscriptions {
		subscriptions = append(subscriptions, subscription{
			Topic: topic, SubString: expression, TagsSet: []string{}, CodeSet: []int{},
			SubVersion: time.Now().UnixMilli(), ExpressionType: m.ExpressionType,
		})
	}
	body := map[string]any{
		"clientID":        m.ClientID,
		"producerDataSet": []any{},
		"consumerDataSet": []any{map[string]any{
			"groupName": m.Group, "consumeType": "CONSUME_PASSIVELY", "messageModel": "CLUSTERING",
			"consumeFromWhere": "CONSUME_FROM_FIRST_OFFSET", "unitMode": false,
			"subscriptionDataSet": subscriptions,
		}},
	}
	answer := c.Call(tb, Heartbeat, nil, mustJSON(tb, body))
	if answer.Code != Success {
		tb.Fatalf("heartbeat of %s: %v", m.ClientID, answer)
	}
	return answer
}

// HeartbeatProducer announces a producer (34).
func (c *Conn) HeartbeatProducer(tb testing.TB, clientID, group string) {
	tb.Helper()
	body := map[string]any{
		"clientID": clientID, "consumerDataSet": []any{}, "producerDataSet": []any{map[string]any{"groupName": group}},
	}
	if answer := c.Call(tb, Heartbeat, nil, mustJSON(tb, body)); answer.Code != Success {
		tb.Fatalf("heartbeat of %s: %v", clientID, answer)
	}
}

// Introduce makes a group and its retry topic known to a broker and leaves the
// group again. The Go client asks for routes when it starts and then every
// 30 s: without this, a new group's first retry waits that long.
func Introduce(tb testing.TB, broker, group, topic string) {
	tb.Helper()
	c := Dial(tb, broker)
	defer c.Close()
	const guest = "guest"
	c.Heartbeat(tb, Member{ClientID: guest, Group: group, Subscriptions: map[string]string{topic: "*"}})
	answer := c.Call(tb, UnregisterClient, map[string]string{"clientID": guest, "consumerGroup": group}, nil)
	if answer.Code != Success {
		tb.Fatalf("unregister: %v", answer)
	}
}

// Commit stores a consumer offset (15).
func (c *Conn) Commit(tb testing.TB, group, topic string, queueID int, offset int64) *Frame {
	tb.Helper()
	return c.Call(tb, UpdateConsumerOffset, map[string]string{
		"consumerGroup": group, "topic": topic, "queueId": strconv.Itoa(queueID),
		"commitOffset": strconv.FormatInt(offset, 10),
	}, nil)
}

// QueryOffset asks for a consumer offset (14). extra adds header fields.
func (c *Conn) QueryOffset(tb testing.TB, group, topic string, queueID int, extra map[string]string) *Frame {
	tb.Helper()
	header := map[string]string{"consumerGroup": group, "topic": topic, "queueId": strconv.Itoa(queueID)}
	maps.Copy(header, extra)
	return c.Call(tb, QueryConsumerOffset, header, nil)
}

// Lock asks for queue locks (41) and returns the queues that clientID now holds.
func (c *Conn) Lock(tb testing.TB, group, clientID string, queues ...Queue) []Queue {
	tb.Helper()
	answer := c.Call(tb, LockBatchMQ, nil, lockBody(tb, group, clientID, queues))
	var body struct {
		Held []Queue `json:"lockOKMQSet"`
	}
	if err := json.Unmarshal(answer.Body, &body); err != nil || answer.Code != Success {
		tb.Fatalf("lock: %v, %v, body %q", answer, err, answer.Body)
	}
	return body.Held
}

// Unlock gives queue locks back (42).
func (c *Conn) Unlock(tb testing.TB, group, clientID string, queues ...Queue) *Frame {
	tb.Helper()
	return c.Call(tb, UnlockBatchMQ, nil, lockBody(tb, group, clientID, queues))
}

func lockBody(tb testing.TB, group, clientID string, queues []Queue) []byte {
	tb.Helper()
	return mustJSON(tb, map[string]any{"consumerGroup": group, "clientId": clientID, "mqSet": queues})
}

// ConsumerIDs lists the members of a group (38). An empty group is code 1.
func (c *Conn) ConsumerIDs(tb testing.TB, group string) ([]string, *Frame) {
	tb.Helper()
	answer := c.Call(tb, GetConsumerList, map[string]string{"consumerGroup": group}, nil)
	var body struct {
		IDs []string `json:"consumerIdList"`
	}
	if answer.Code == Success {
		if err := json.Unmarshal(answer.Body, &body); err != nil {
			tb.Fatalf("consumers of %s: %v, body %q", group, err, answer.Body)
		}
	}
	return body.IDs, answer
}
