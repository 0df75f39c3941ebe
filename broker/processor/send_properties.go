package processor

import (
	"bytes"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

// foundProperties is what a send must know of a message's properties.
type foundProperties struct {
	transaction bool
	multiQueue  bool
	noWait      bool // WAIT=false: the reply does not wait for the flush
	hasUniqKey  bool
	otherKind   bool   // is delayed or ordered: a priority does not count
	priority    []byte // _SYS_MSG_PRIORITY_, as the client wrote it
	hasGroup    bool
	delayed     bool   // by a level
	fifo        bool   // of a sharding key
	replyTo     []byte // REPLY_TO_CLIENT of a request; nil in a reply
}

var (
	lightQueue    = []byte("%LMQ%")
	trueValue     = []byte("true")
	errMultiQueue = &remoting.Error{Code: remoting.SystemError,
		Remark: "light queues (" + message.PropertyInnerMultiDispatch + ") are not supported"}
)

// properties builds the stored properties: the client's, less what only a broker may say, and
// the broker's own.
func (s *Send) properties(st *sendState) error {
	st.props, st.uniqKey, st.found = st.props[:0], st.uniqKey[:0], foundProperties{}
	for rest := st.header.Properties; len(rest) > 0; {
		name, end := message.PropertyBounds(rest)
		if name > 0 {
			st.takeProperty(rest[:end], name)
		}
		rest = message.PropertyRest(rest, end)
	}
	if st.found.multiQueue {
		return errMultiQueue
	}
	st.prioritise()
	st.props = append(st.props, s.texts.Load().own...)
	if !st.found.hasUniqKey {
		st.uniqKey = message.AppendUniqKey(st.uniqKey, s.opts.StoreHost.Addr(), s.opts.Store.NowMillis())
		st.props = message.PropertyAppend(st.props, message.PropertyUniqKey, st.uniqKey)
	}
	st.rec.Properties = st.props
	return nil
}

// takeProperty looks at an entry, whose name has the given length, and copies it unless it is
// the broker's to say.
func (st *sendState) takeProperty(entry []byte, nameLen int) {
	value := entry[nameLen+1:]
	switch string(entry[:nameLen]) {
	case message.PropertyMsgRegion, message.PropertyTraceOn, message.PropertyCluster, message.PropertyPopCK:
		return
	case message.PropertyUniqKey:
		st.found.hasUniqKey = true
		st.uniqKey = append(st.uniqKey[:0], value...)
	case message.PropertyTransactionPrepared:
		st.found.transaction = bytes.EqualFold(value, trueValue)
	case message.PropertyProducerGroup:
		st.found.hasGroup = true
	case message.PropertyDelay:
		st.found.delayed, st.found.otherKind = string(value) != "0", true
	case message.PropertyInnerMultiDispatch:
		st.found.multiQueue = bytes.Contains(value, lightQueue)
	case message.PropertyWait:
		st.found.noWait = string(value) == "false"
	case message.PropertyShardingKey:
		st.found.fifo, st.found.otherKind = true, true
	case message.PropertyTimerDeliverMs, message.PropertyTimerDelaySec, message.PropertyTimerDelayMs:
		st.found.otherKind = true
	case message.PropertyReplyToClient:
		st.found.replyTo = value
	case message.PropertyPriority:
		st.found.priority = value
		return
	}
	st.props = append(append(st.props, entry...), 0x02)
}
