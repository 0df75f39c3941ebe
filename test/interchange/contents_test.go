package interchange

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// Request codes that only this package sends.
const (
	getAllTopicConfig   = 21
	getAllGroupConfig   = 201
	updateGroup         = 200
	deleteTopicInBroker = 215
)

// queue is a queue of a topic.
type queue struct {
	topic string
	id    int
}

// position is a committed offset of a group in a queue.
type position struct {
	group string
	queue
}

// contents is what clients see of a store.
type contents struct {
	messages  map[queue][]wire.Message
	min, max  map[queue]int64
	positions map[position]int64
	topics    map[string]settings
	groups    map[string]settings
}

// settings are the configuration of a topic or a group, by field.
type settings map[string]any

// keyed is a message that can be found by a key.
type keyed struct {
	topic, key string
	offset     int64 // in the log
}

// wantFound fails the test unless every message is found by its key.
func wantFound(t *testing.T, c *wire.Conn, messages []keyed) {
	t.Helper()
	for _, m := range messages {
		var found []wire.Message
		suite.Eventually(t, patience, fmt.Sprintf("%s is found in %s", m.key, m.topic), func() bool {
			found, _ = c.Query(t, wire.Query{Topic: m.topic, Key: m.key})
			return len(found) > 0
		})
		if len(found) != 1 || found[0].CommitLogOffset != m.offset {
			t.Errorf("%s leads to %d messages, the first at %d, want one at %d", m.key, len(found), found[0].CommitLogOffset, m.offset)
		}
	}
}

// look reads everything that the named queues and positions hold.
func look(t *testing.T, c *wire.Conn, queues []queue, positions []position) contents {
	t.Helper()
	got := contents{
		messages: make(map[queue][]wire.Message), min: make(map[queue]int64), max: make(map[queue]int64),
		positions: make(map[position]int64), topics: topics(t, c), groups: groups(t, c),
	}
	for _, q := range queues {
		got.messages[q] = c.PullAll(t, wire.Pull{Group: "look", Topic: q.topic, QueueID: q.id})
		got.max[q] = c.MaxOffset(t, q.topic, q.id)
		got.min[q] = c.Call(t, wire.GetMinOffset, header(q), nil).Int64(t, "offset")
	}
	for _, p := range positions {
		answer := c.QueryOffset(t, p.group, p.topic, p.id, nil)
		if answer.Code != wire.Success {
			t.Fatalf("offset of %v: %v", p, answer)
		}
		got.positions[p] = answer.Int64(t, "offset")
	}
	return got
}

func header(q queue) map[string]string {
	return map[string]string{"topic": q.topic, "queueId": fmt.Sprint(q.id)}
}

func topics(t *testing.T, c *wire.Conn) map[string]settings {
	t.Helper()
	var body struct{ TopicConfigTable map[string]settings }
	ask(t, c, getAllTopicConfig, &body)
	return body.TopicConfigTable
}

func groups(t *testing.T, c *wire.Conn) map[string]settings {
	t.Helper()
	var body struct{ SubscriptionGroupTable map[string]settings }
	ask(t, c, getAllGroupConfig, &body)
	return body.SubscriptionGroupTable
}

// ask sends a request without fields and reads its answer's body.
func ask(t *testing.T, c *wire.Conn, code int, body any) {
	t.Helper()
	answer := c.Call(t, code, nil, nil)
	if err := json.Unmarshal(answer.Body, body); err != nil || answer.Code != wire.Success {
		t.Fatalf("request %d: %v, %v", code, answer, err)
	}
}

// wantSame fails the test unless another server serves at least what one did: the same
// messages at the same offsets, to the byte, and whatever came after them.
func (before contents) wantSame(t *testing.T, after contents) {
	t.Helper()
	for q, want := range before.messages {
		got := after.messages[q]
		if after.min[q] != before.min[q] || after.max[q] < before.max[q] {
			t.Errorf("%v holds [%d, %d), before [%d, %d)", q, after.min[q], after.max[q], before.min[q], before.max[q])
		}
		if len(got) < len(want) {
			t.Errorf("%v serves %d messages, before %d", q, len(got), len(want))
			continue
		}
		for i := range want {
			if !reflect.DeepEqual(got[i], want[i]) {
				t.Errorf("%v, message %d:\n got %+v\nwant %+v", q, i, got[i], want[i])
				break
			}
		}
	}
	for p, want := range before.positions {
		if got := after.positions[p]; got != want {
			t.Errorf("%v is at %d, before at %d", p, got, want)
		}
	}
	for _, name := range named {
		if got, want := after.topics[name], before.topics[name]; !reflect.DeepEqual(got, want) || want == nil {
			t.Errorf("topic %s is %v, before %v", name, got, want)
		}
	}
	for name, want := range before.groups {
		if got := after.groups[name]; !reflect.DeepEqual(got, want) {
			t.Errorf("group %s is %v, before %v", name, got, want)
		}
	}
}
