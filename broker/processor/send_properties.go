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
}

var (
	errTransaction = &remoting.Error{Code: remoting.SystemError, Remark: noTransactions}
	lightQueue     = []byte("%LMQ%")
	errMultiQueue  = &remoting.Error{Code: remoting.SystemError,
		Remark: "light queues (" + message.PropertyInnerMultiDispatch + ") are not supported"}
)

// properties builds the stored properties: the client's, less what only a broker may say, and
// the broker's own.
func (s *Send) properties(st *sendState) error {
	st.props, st.uniqKey, st.found = st.props[:0], st.uniqKey[:0], foundProperties{}
	message.PropertyEach(st.header.Properties, st.takeProperty)
	if st.found.transaction || st.rec.SysFlag&message.SysFlagTransactionMask != 0 {
		return errTransaction
	}
	if st.found.multiQueue {
		return errMultiQueue
	}
	st.props = message.PropertyAppend(st.props, message.PropertyMsgRegion, s.opts.Region)
	if s.opts.TraceOn {
		st.props = message.PropertyAppend(st.props, message.PropertyTraceOn, "true")
	} else {
		st.props = message.PropertyAppend(st.props, message.PropertyTraceOn, "false")
	}
	st.props = message.PropertyAppend(st.props, message.PropertyCluster, s.opts.Cluster)
	if !st.found.hasUniqKey {
		st.uniqKey = message.AppendUniqKey(st.uniqKey, s.opts.StoreHost.Addr(), s.opts.Store.NowMillis())
		st.props = message.PropertyAppend(st.props, message.PropertyUniqKey, st.uniqKey)
	}
	st.rec.Properties = st.props
	return nil
}

func (st *sendState) takeProperty(name, value []byte) {
	switch string(name) {
	case message.PropertyMsgRegion, message.PropertyTraceOn, message.PropertyCluster, message.PropertyPopCK:
		return
	case message.PropertyUniqKey:
		st.found.hasUniqKey = true
		st.uniqKey = append(st.uniqKey[:0], value...)
	case message.PropertyTransactionPrepared:
		st.found.transaction = bytes.EqualFold(value, []byte("true"))
	case message.PropertyInnerMultiDispatch:
		st.found.multiQueue = bytes.Contains(value, lightQueue)
	case message.PropertyWait:
		st.found.noWait = string(value) == "false"
	}
	st.props = append(st.props, name...)
	st.props = append(st.props, 0x01)
	st.props = append(st.props, value...)
	st.props = append(st.props, 0x02)
}
