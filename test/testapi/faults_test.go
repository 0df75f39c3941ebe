package testapi

import (
	"context"
	"testing"
	"time"

	"github.com/apache/rocketmq-client-go/v2/primitive"

	"github.com/wheelmq/wheelmq/test/goclient"
)

func TestFault_AppliesAndIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := start(t, "--test-api")
	s.ok(t, "PUT", "/test/topics/orders?queues=1", nil)
	added := into[faultState](t, s.post(t, "/test/faults", m{"code": "SEND_MESSAGE_V2", "topic": "orders", "dropReply": true, "count": 1}))
	if added.ID != "f1" || added.Rule["code"] != 310.0 || added.Rule["dropReply"] != true || added.Hits != 0 || added.Spent {
		t.Errorf("added %+v", added)
	}
	s.fails(t, "GET", "/test/faults/f1?hits=1&timeout=10ms", nil, 408, "timeout", "0 times of 1")
	sent := make(chan error, 1)
	p := goclient.Producer(t, s.NameServer, resend...)
	go func() {
		_, err := p.SendSync(context.Background(), primitive.NewMessage("orders", []byte("once")))
		sent <- err
	}()
	hit := into[faultState](t, s.get(t, "/test/faults/f1?hits=1&timeout=30s"))
	if hit.Hits != 1 || !hit.Spent {
		t.Errorf("after the send: %+v", hit)
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
	// The client has sent again what was stored already: the duplicate to be ready for.
	if got := into[messageList](t, s.get(t, "/test/messages?topic=orders")); got.Total < 2 || got.Messages[0].MsgID != got.Messages[1].MsgID {
		t.Errorf("stored: %+v", got)
	}
	wantError(t, s.send(t, "GET", "/test/faults/f1?hits=2", nil, false, nil), 400, "invalid", "applies 1 times")
}

func TestFaults_AreListedAndRemoved(t *testing.T) {
	t.Parallel()
	s := start(t, "--test-api")
	s.post(t, "/test/faults", m{"id": "slow", "code": 11, "delayMs": 50})
	s.post(t, "/test/faults", m{"diskFull": true})
	s.post(t, "/test/faults", m{"respond": "SYSTEM_BUSY", "remark": "on purpose", "code": 10, "topic": "T", "group": "G", "skip": 1, "count": 2})
	list := into[struct{ Faults []faultState }](t, s.get(t, "/test/faults")).Faults
	if len(list) != 3 || list[0].ID != "slow" || list[1].ID != "f1" || list[2].Rule["remark"] != "on purpose" || list[2].Rule["respond"] != 2.0 {
		t.Errorf("listed: %+v", list)
	}
	s.fails(t, "POST", "/test/messages", m{"topic": "T", "text": "x"}, 409, "refused", "full")
	waited := make(chan *exchange, 1)
	go func() { waited <- s.send(t, "GET", "/test/faults/slow?hits=5&timeout=30s", nil, false, nil) }()
	time.Sleep(50 * time.Millisecond)
	s.ok(t, "DELETE", "/test/faults/slow", nil)
	wantError(t, <-waited, 404, "not-found", "slow")
	s.fails(t, "GET", "/test/faults/slow", nil, 404, "not-found", "slow")
	s.fails(t, "DELETE", "/test/faults/slow", nil, 404, "not-found", "slow")
	s.fails(t, "POST", "/test/faults", m{"id": "f1", "closeConn": true}, 400, "invalid", "f1")
	s.fails(t, "POST", "/test/faults", m{"diskFull": true, "fsyncFails": true}, 400, "invalid", "set one")
	s.fails(t, "POST", "/test/faults", m{"topic": "T"}, 400, "invalid", "no action")
	wantError(t, s.send(t, "POST", "/test/faults", m{"dropRepyl": true}, true, nil), 400, "invalid", "did you mean dropReply?")
	s.ok(t, "DELETE", "/test/faults", nil)
	if list := into[struct{ Faults []faultState }](t, s.get(t, "/test/faults")).Faults; list == nil || len(list) != 0 {
		t.Errorf("left: %+v", list)
	}
}
