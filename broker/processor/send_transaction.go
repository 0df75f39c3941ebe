package processor

import (
	"github.com/wheelmq/wheelmq/broker/stats"
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

// transaction marks a message that waits for its commit, and no other: the flags of a client say
// nothing by themselves, but that it meant one. A retry of a message that once was in a transaction
// is none; old clients keep TRAN_MSG there.
func (s *Send) transaction(st *sendState) error {
	asked := st.found.transaction || st.rec.SysFlag&message.SysFlagTransactionMask == message.SysFlagPrepared
	st.rec.SysFlag &^= message.SysFlagTransactionMask
	_, derived := topic.GroupOf(st.rec.Topic)
	st.found.transaction = asked && !derived && !(st.rec.ReconsumeTimes > 0 && st.found.delayed)
	if !st.found.transaction {
		return nil
	}
	if s.opts.RejectTransactions != nil && s.opts.RejectTransactions() {
		return remoting.Errorf(remoting.NoPermission, "the broker[%s] sending transaction message is forbidden", s.opts.StoreHost.Addr())
	}
	if !st.found.hasGroup {
		st.props = message.PropertyAppend(st.props, message.PropertyProducerGroup, st.header.ProducerGroup)
		st.rec.Properties = st.props
	}
	st.rec.SysFlag |= message.SysFlagPrepared
	return nil
}

// prepared counts a half message: it is one of its topic's messages when it is committed.
func (st *sendState) prepared(size int64) {
	s := st.send
	half := s.opts.Stats.TopicCounters(topicHalf)
	half.PutOK(1, size)
	half.In(stats.Transaction, size)
	if s.opts.Prepared != nil {
		s.opts.Prepared([]byte(st.config.TopicName))
	}
}

var topicHalf = []byte(message.TopicTransHalf)
