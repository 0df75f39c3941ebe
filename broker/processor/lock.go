package processor

import (
	"github.com/wheelmq/wheelmq/broker/lock"
	"github.com/wheelmq/wheelmq/remoting"
)

type lockTable interface {
	Lock(group, clientID string, queues []lock.Queue) []lock.Queue
	Unlock(group, clientID string, queues []lock.Queue)
}

// Lock serves LOCK_BATCH_MQ (41) and UNLOCK_BATCH_MQ (42). A client need not be
// registered to hold a lock, as with the real server. onlyThisBroker is ignored: there
// are no replicas to ask.
type Lock struct {
	Locks lockTable
}

// Routes returns the table rows.
func (l *Lock) Routes() []remoting.Route {
	const test = "broker/processor/lock_test.go"
	return []remoting.Route{
		{Code: remoting.LockBatchMQ, Class: remoting.Inline, Handler: l.lock, Since: "3.0", Test: test},
		{Code: remoting.UnlockBatchMQ, Class: remoting.Inline, Handler: l.unlock, Since: "3.0", Test: test},
	}
}

func (l *Lock) lock(ex *remoting.Exchange) error {
	var req remoting.LockBatchBody
	if err := decodeBody(ex, &req); err != nil {
		return err
	}
	granted := l.Locks.Lock(req.ConsumerGroup, req.ClientID, lockQueues(req.MQSet))
	resp := remoting.LockBatchResponseBody{LockOKMQSet: make([]remoting.MessageQueue, 0, len(granted))}
	for _, queue := range granted {
		resp.LockOKMQSet = append(resp.LockOKMQSet, remoting.MessageQueue{
			Topic: queue.Topic, BrokerName: queue.BrokerName, QueueID: queue.QueueID,
		})
	}
	return encodeBody(ex, &resp)
}

func (l *Lock) unlock(ex *remoting.Exchange) error {
	var req remoting.LockBatchBody
	if err := decodeBody(ex, &req); err != nil {
		return err
	}
	l.Locks.Unlock(req.ConsumerGroup, req.ClientID, lockQueues(req.MQSet))
	return nil
}

func lockQueues(set []remoting.MessageQueue) []lock.Queue {
	queues := make([]lock.Queue, 0, len(set))
	for _, mq := range set {
		queues = append(queues, lock.Queue{Topic: mq.Topic, BrokerName: mq.BrokerName, QueueID: mq.QueueID})
	}
	return queues
}
