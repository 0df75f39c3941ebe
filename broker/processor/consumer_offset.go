package processor

import (
	"github.com/wheelmq/wheelmq/broker/offset"
	"github.com/wheelmq/wheelmq/broker/subscription"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/store"
)

// Remarks of a query that finds no offset (request code 14, RocketMQ 5.5.0). Clients go
// by the code; the case tests look at the beginning.
const (
	offsetNotFound    = "Not found, V3_0_6_SNAPSHOT maybe this group consumer boot first"
	offsetNotFoundYet = "Not found, do not set to zero, maybe this group boot first"
)

type (
	groupReader interface {
		// Lookup never creates the group.
		Lookup(name []byte) *subscription.Config
	}
	offsetTable interface {
		Commit(group, topic []byte, queueID int32, offset int64) offset.Taken
		Query(group, topic []byte, queueID int32) int64
	}
)

// rebalancer makes the members of a group divide the queues again.
type rebalancer interface{ Rebalance(group []byte) }

// offsetWasReset is the remark of an offset that is not stored (RocketMQ 5.5.0).
const offsetWasReset = "Offset has been previously reset"

// ConsumerOffset serves QUERY_CONSUMER_OFFSET (14) and UPDATE_CONSUMER_OFFSET (15).
type ConsumerOffset struct {
	Topics   topicReader
	Groups   groupReader
	Offsets  offsetTable
	Clients  rebalancer
	Store    messageLog
	HotBytes int64 // as PullLimits.HotBytes
}

// Routes returns the table rows.
func (c *ConsumerOffset) Routes() []remoting.Route {
	const test = "broker/processor/consumer_offset_test.go"
	return []remoting.Route{
		{Code: remoting.QueryConsumerOffset, Class: remoting.Inline, Handler: c.query, Since: "3.0", Test: test},
		{Code: remoting.UpdateConsumerOffset, Class: remoting.Inline, Handler: c.update, Since: "3.0", Test: test},
	}
}

// query answers the stored offset. Without one, a queue whose first record is still in
// memory begins at 0 for a new group, whatever its consumeFromWhere; any other queue is
// code 22, on which the client applies its own rule.
func (c *ConsumerOffset) query(ex *remoting.Exchange) error {
	var req remoting.QueryConsumerOffsetRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	ex.Reply.Ext.Open()
	stored := c.Offsets.Query(req.ConsumerGroup, req.Topic, req.QueueID)
	if stored == offset.None {
		if !req.SetZeroIfNotFound {
			return &remoting.Error{Code: remoting.QueryNotFound, Remark: offsetNotFoundYet}
		}
		if !c.young(c.Store.Queue(req.Topic, req.QueueID)) {
			return &remoting.Error{Code: remoting.QueryNotFound, Remark: offsetNotFound}
		}
		stored = 0
	}
	resp := remoting.QueryConsumerOffsetResponse{Offset: stored}
	resp.Encode(&ex.Reply.Ext)
	return nil
}

// young tells whether a queue's record 0 exists and is in memory.
func (c *ConsumerOffset) young(queue *store.ConsumeQueue) bool {
	if queue == nil || queue.Min() > 0 || queue.Max() == 0 {
		return false
	}
	first, ok := queue.Unit(0)
	return ok && (c.HotBytes <= 0 || first.CommitLogOffset >= c.Store.MaxCommitLogOffset()-c.HotBytes)
}

// update stores an offset as it is: beyond the end, or backwards. One of a group that is being reset
// is not stored. A client that takes over where it was sent has given its queue up until the next
// time that it divides the queues, which may be 20 s later: it is told to do so now.
func (c *ConsumerOffset) update(ex *remoting.Exchange) error {
	var req remoting.UpdateConsumerOffsetRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	ex.Reply.Ext.Open()
	if c.Groups.Lookup(req.ConsumerGroup) == nil {
		return remoting.Errorf(remoting.SubscriptionGroupNotExist, "Group %s not exist!", req.ConsumerGroup)
	}
	if c.Topics.Get(req.Topic) == nil {
		return remoting.Errorf(remoting.TopicNotExist, "Topic %s not exist!", req.Topic)
	}
	taken := c.Offsets.Commit(req.ConsumerGroup, req.Topic, req.QueueID, req.CommitOffset)
	if taken == offset.Refused {
		return ownOffsets(string(req.ConsumerGroup))
	}
	if taken != offset.Stored {
		ex.Reply.Remark = offsetWasReset
	}
	if taken == offset.Arrived {
		c.Clients.Rebalance(req.ConsumerGroup)
	}
	return nil
}

// ownOffsets refuses to set offsets by which the broker itself remembers what is done.
func ownOffsets(group string) error {
	return remoting.Errorf(remoting.NoPermission, "the offsets of group %s are the broker's own", group)
}
