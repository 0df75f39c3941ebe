package testapi

import (
	"encoding/base64"
	"net/url"
	"slices"
	"testing"
)

func TestProduce_AndLook(t *testing.T) {
	t.Parallel()
	s := start(t, "--test-api")
	made := into[struct {
		Topic  string
		Queues int
	}](t, s.ok(t, "PUT", "/test/topics/orders?queues=3", nil))
	if made.Topic != "orders" || made.Queues != 3 {
		t.Errorf("made %+v", made)
	}
	s.ok(t, "PUT", "/test/topics/bills", nil)
	s.ok(t, "PUT", "/test/topics/bills", m{"queues": 2})
	binary := []byte{0, 1, 254, 255}
	placed := into[stored](t, s.post(t, "/test/messages", m{
		"topic": "orders", "queueId": 2, "tags": "new", "keys": "k1 k2", "properties": m{"color": "blue"}, "body": base64.StdEncoding.EncodeToString(binary),
	}))
	if placed.QueueID != 2 || placed.QueueOffset != 0 || placed.MsgID == "" {
		t.Errorf("stored at %+v", placed)
	}
	s.post(t, "/test/messages", m{"topic": "orders", "text": "grüße"})
	got := into[messageList](t, s.get(t, "/test/messages?topic=orders"))
	if got.Total != 2 || len(got.Messages) != 2 {
		t.Fatalf("orders: %+v", got)
	}
	if one := got.Messages[0]; one.MsgID != placed.MsgID || one.QueueID != 2 || one.Tags != "new" || one.Keys != "k1 k2" || one.Properties["color"] != "blue" || !slices.Equal(one.Body, binary) {
		t.Errorf("the first: %+v", one)
	}
	if string(got.Messages[1].Body) != "grüße" {
		t.Errorf("the second: %s", got.Messages[1].Body)
	}
	if first := into[messageList](t, s.get(t, "/test/messages?topic=orders&limit=1")); first.Total != 2 || len(first.Messages) != 1 {
		t.Errorf("one of them: %+v", first)
	}
	if topics := into[struct{ Topics []string }](t, s.get(t, "/test/topics")).Topics; !slices.Contains(topics, "orders") || !slices.IsSorted(topics) {
		t.Errorf("topics: %v", topics)
	}
	s.fails(t, "GET", "/test/messages?topic=none", nil, 404, "not-found", "none")
	s.fails(t, "POST", "/test/messages", m{"topic": "orders", "queueId": 7, "text": "x"}, 400, "invalid", "queue")
	s.fails(t, "POST", "/test/messages", m{"topic": "a b", "text": "x"}, 400, "invalid", "topic")
	s.fails(t, "POST", "/test/messages", m{"topic": "orders", "text": "x", "properties": m{"a": "\x01"}}, 400, "invalid", "property")
	s.fails(t, "PUT", "/test/topics/a%20b", nil, 400, "invalid", "topic")
}

// TestNames_WithPercentSigns: groups and topics may hold them, and retry topics do.
func TestNames_WithPercentSigns(t *testing.T) {
	t.Parallel()
	s := start(t, "--test-api")
	group := "50%|off"
	path := "/test/groups/" + url.PathEscape(group)
	made := into[struct {
		Group    string
		MaxRetry int
	}](t, s.ok(t, "PUT", path+"?maxRetry=2", nil))
	if made.Group != group || made.MaxRetry != 2 {
		t.Errorf("made %+v", made)
	}
	s.ok(t, "PUT", path, m{"maxRetry": 3})
	if groups := into[struct{ Groups []string }](t, s.get(t, "/test/groups")).Groups; !slices.Equal(groups, []string{group}) {
		t.Errorf("groups: %v", groups)
	}
	if lag := into[struct {
		Group string
		Lag   int64
	}](t, s.get(t, path+"/lag")); lag.Group != group || lag.Lag != 0 {
		t.Errorf("lag: %+v", lag)
	}
	if dlq := into[messageList](t, s.get(t, path+"/dlq")); dlq.Total != 0 || dlq.Messages == nil {
		t.Errorf("dead letters: %+v", dlq)
	}
	s.ok(t, "PUT", "/test/topics/"+url.PathEscape("%RETRY%"+group)+"?queues=1", nil)
	if got := into[messageList](t, s.get(t, "/test/messages?topic="+url.QueryEscape("%RETRY%"+group))); got.Total != 0 {
		t.Errorf("retries: %+v", got)
	}
	wantError(t, s.send(t, "GET", "/test/messages?topic=%RETRY%g", nil, true, nil), 400, "invalid", "%25")
	s.fails(t, "GET", "/test/groups/none/lag", nil, 404, "not-found", "none")
	s.fails(t, "GET", path+"/lag?topic=none", nil, 404, "not-found", "none")
}
