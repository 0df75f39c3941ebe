package processor

import (
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

// recallHandle tells the client by what it recalls a message that waits for its instant.
func (st *sendState) recallHandle(reply *remoting.Reply) {
	if st.count != 1 || st.rec.Topic != message.TopicTimer {
		return
	}
	st.handle = message.AppendRecallHandle(st.handle[:0], st.config.TopicName, st.send.opts.Broker, st.rec.TimerOut+1, st.uniqKey)
	reply.Ext.Plain("recallHandle", st.handle)
}
