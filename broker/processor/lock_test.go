package processor_test

import (
	"testing"

	"github.com/wheelmq/wheelmq/broker/lock"
	"github.com/wheelmq/wheelmq/broker/processor"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/remoting"
)

func TestLockRequests(t *testing.T) {
	t.Parallel()
	routes := (&processor.Lock{Locks: lock.NewTable(clock.NewVirtual(0))}).Routes()
	const queue = `{"brokerName":"broker-a","queueId":2,"topic":"T"}`
	ask := func(clientID string) string {
		return `{"clientId":"` + clientID + `","consumerGroup":"g","mqSet":[` + queue + `],"onlyThisBroker":false}`
	}
	for _, step := range []struct {
		name string
		code int32
		body string
		want string
	}{
		{"c1 locks", remoting.LockBatchMQ, ask("c1"), `{"lockOKMQSet":[` + queue + `]}`},
		{"c2 locks", remoting.LockBatchMQ, ask("c2"), `{"lockOKMQSet":[]}`},
		{"c2 unlocks", remoting.UnlockBatchMQ, ask("c2"), ""},
		{"c2 locks again", remoting.LockBatchMQ, ask("c2"), `{"lockOKMQSet":[]}`},
		{"c1 unlocks", remoting.UnlockBatchMQ, ask("c1"), ""},
		{"c2 locks at last", remoting.LockBatchMQ, ask("c2"), `{"lockOKMQSet":[` + queue + `]}`},
	} {
		reply := request(t, routes, &conn{}, step.code, nil, step.body)
		wantReply(t, reply, remoting.Success, "")
		if string(reply.Body) != step.want {
			t.Errorf("%s: %s, want %s", step.name, reply.Body, step.want)
		}
	}
	wantReply(t, request(t, routes, &conn{}, remoting.LockBatchMQ, nil, "{"), remoting.SystemError, "")
}
