package compat

import (
	"sync"
	"testing"

	rocketmq "github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"

	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// decisions is an application that says at once what the tag of a message asks for, and says the
// same later when the tag asks it to wait.
type decisions struct {
	mu    sync.Mutex
	asked map[string]int // questions of the broker per body
}

func (d *decisions) ExecuteLocalTransaction(m *primitive.Message) primitive.LocalTransactionState {
	switch m.GetTags() {
	case "commit":
		return primitive.CommitMessageState
	case "rollback":
		return primitive.RollbackMessageState
	}
	return primitive.UnkonwnState
}

func (d *decisions) CheckLocalTransaction(m *primitive.MessageExt) primitive.LocalTransactionState {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked[string(m.Body)]++
	if m.GetTags() == "commit later" {
		return primitive.CommitMessageState
	}
	return primitive.RollbackMessageState
}

// TestTransactions_ArriveWhenCommitted at once, or when the broker asks; never when rolled back.
func TestTransactions_ArriveWhenCommitted(t *testing.T) {
	t.Parallel()
	l := newLab(t, 2)
	box := l.consume(t)
	d := &decisions{asked: make(map[string]int)}
	p := l.transactionProducer(t, d)
	var want []string
	for _, tag := range []string{"commit", "rollback", "commit later", "rollback later"} {
		for _, body := range numbered(tag, 5) {
			m := primitive.NewMessage(l.topic, []byte(body)).WithTag(tag).WithKeys([]string{"key " + body})
			m.WithProperty("mine", "yes")
			result, err := p.SendMessageInTransaction(t.Context(), m)
			if err != nil {
				t.Fatal(err)
			}
			if result.Status != primitive.SendOK {
				t.Fatalf("send of %q: %v", body, result)
			}
			if tag == "commit" || tag == "commit later" {
				want = append(want, body)
			}
		}
	}
	box.wantOnce(t, want...)
	suite.Eventually(t, limit, "the broker asks about everything that is open", func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		open := 0
		for _, tag := range []string{"commit later", "rollback later"} {
			for _, body := range numbered(tag, 5) {
				if d.asked[body] > 0 {
					open++
				}
			}
		}
		return open == 10
	})
	for _, a := range box.all() {
		if a.GetKeys() != "key "+string(a.Body) || a.GetProperty("mine") != "yes" || a.TransactionId == "" {
			t.Errorf("%q arrived with key %q, property %q, transaction %q", a.Body, a.GetKeys(), a.GetProperty("mine"), a.TransactionId)
		}
	}
	l.settle(t, len(want))
}

func (l *lab) transactionProducer(t *testing.T, listener primitive.TransactionListener) rocketmq.TransactionProducer {
	t.Helper()
	p, err := rocketmq.NewTransactionProducer(listener,
		producer.WithNameServer(l.nameServer()),
		producer.WithGroupName(suite.Name(t, "producer")),
		producer.WithInstanceName(instanceName()),
		producer.WithSendMsgTimeout(wire.Timeout),
	)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Shutdown() })
	return p
}
