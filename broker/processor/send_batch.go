package processor

import (
	"bytes"
	"strconv"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/store"
)

// putBatch stores the messages of a batch with consecutive offsets, all or none. Nothing is
// added to their properties, as on the real broker. A delay inside a batch, which the real
// broker ignores, is refused.
func (s *Send) putBatch(ex *remoting.Exchange, st *sendState, config *topic.Config) (waits bool, err error) {
	if err := s.checkBatch(ex, st.header.Properties, config.TopicName); err != nil {
		return false, err
	}
	st.found, st.uniqKey, st.rec, st.recs = foundProperties{}, st.uniqKey[:0], message.Record{Scratch: st.rec.Scratch}, st.recs[:0]
	if wait, ok := message.PropertyGet(st.header.Properties, message.PropertyWait); ok {
		st.found.noWait = string(wait) == "false"
	}
	if err := s.readBatch(ex, st, config); err != nil {
		return false, err
	}
	st.keyOfBatch()
	st.count = int64(len(st.recs))
	if s.opts.SyncFlush && !st.found.noWait {
		return s.putWaiting(ex, st, func() (store.PutResult, bool, error) {
			return s.opts.Appender.PutBatch(st.recs, appender.FromClient, st)
		}), nil
	}
	res, _, err := s.opts.Appender.PutBatch(st.recs, appender.FromClient, nil)
	if err != nil {
		return false, err
	}
	st.reply(&ex.Reply, res)
	return false, nil
}

// checkBatch refuses what cannot be a batch, whatever is in it.
func (s *Send) checkBatch(ex *remoting.Exchange, props []byte, topicName string) error {
	if _, derived := topic.GroupOf(topicName); derived || len(topicName) > message.MaxTopicLength {
		return remoting.Errorf(remoting.MessageIllegal, "batch request does not support retry group %s", topicName)
	}
	if most := s.most.Load(); int64(len(ex.Req.Body)) > most {
		return appender.Refusal(store.PutResult{Status: store.MessageIllegal, MaxBody: int(most)})
	}
	return s.refuseInBatch(props)
}

// readBatch makes the records of a batch's messages.
func (s *Send) readBatch(ex *remoting.Exchange, st *sendState, config *topic.Config) error {
	h := &st.header
	for rest := ex.Req.Body; len(rest) > 0; {
		var item message.BatchItem
		var err error
		if item, rest, err = message.NextInBatch(rest); err != nil {
			return &remoting.Error{Code: remoting.MessageIllegal, Remark: "the batch is illegal: " + err.Error()}
		}
		if err := s.refuseInBatch(item.Properties); err != nil {
			return err
		}
		st.recs = append(st.recs, message.Record{
			Topic: config.TopicName, QueueID: st.queueID, Flag: item.Flag, SysFlag: h.SysFlag &^ message.SysFlagTransactionMask, BornTimestamp: h.BornTimestamp,
			BornHost: ex.Conn.RemoteAddr(), StoreHost: s.opts.StoreHost, ReconsumeTimes: h.ReconsumeTimes,
			Body: item.Body, Properties: item.Properties,
		})
	}
	return nil
}

// keyOfBatch takes the unique key that the answer names: the batch's own, or that of its first message.
func (st *sendState) keyOfBatch() {
	key, ok := message.PropertyGet(st.header.Properties, message.PropertyUniqKey)
	if !ok {
		key, ok = message.PropertyGet(st.recs[0].Properties, message.PropertyUniqKey)
	}
	if ok {
		st.uniqKey = append(st.uniqKey, key...)
	}
}

// refuseInBatch refuses properties that a batch cannot honour.
func (s *Send) refuseInBatch(props []byte) error {
	if v, ok := message.PropertyGet(props, message.PropertyDelay); ok {
		if level, err := strconv.Atoi(string(v)); err != nil || level > 0 {
			s.opts.Differences.Use(difference.BatchDelayRefused)
			return remoting.Errorf(remoting.MessageIllegal, "the message is illegal: a message of a batch cannot be delayed (DELAY=%s)", v)
		}
	}
	if s.opts.AnyTime.Asked(props) {
		s.opts.Differences.Use(difference.BatchDelayRefused)
		return remoting.Errorf(remoting.MessageIllegal, "the message is illegal: a message of a batch cannot be delayed (TIMER_*)")
	}
	if v, ok := message.PropertyGet(props, message.PropertyTransactionPrepared); ok && bytes.EqualFold(v, trueValue) {
		return remoting.Errorf(remoting.MessageIllegal, "the message is illegal: a message of a batch cannot be transactional")
	}
	return nil
}
