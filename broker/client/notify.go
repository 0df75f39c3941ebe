package client

import (
	"fmt"
	"sync/atomic"

	"github.com/wheelmq/wheelmq/remoting"
)

// opaques counts this process's own requests to clients.
var opaques atomic.Int32

// notifyFrame returns the oneway request that makes a member of a group divide the queues
// again. Every channel needs its own: a sent frame is the connection's.
func notifyFrame(group string) []byte {
	var ext remoting.ExtWriter
	header := remoting.NotifyConsumerIdsChangedRequest{ConsumerGroup: group}
	header.Encode(&ext)
	return remoting.AppendRequest(nil, remoting.NotifyConsumerIDsChanged, opaques.Add(1), remoting.FlagOneway, &ext, nil)
}

// Notify sends a client a request that wants no answer.
func Notify(conn remoting.Conn, code int32, ext *remoting.ExtWriter, body []byte) error {
	frame := remoting.AppendRequest(nil, code, opaques.Add(1), remoting.FlagOneway, ext, body)
	if err := conn.Send(frame); err != nil {
		return fmt.Errorf("client: code %d to %s: %w", code, conn.RemoteAddr(), err)
	}
	return nil
}

// Rebalance makes the members of a group divide the queues again, unless the group is not to be told
// of changes.
func (r *Registry) Rebalance(group []byte) {
	var conns []remoting.Conn
	r.mu.RLock()
	if g := r.consumers[string(group)]; g != nil {
		conns = g.conns()
	}
	r.mu.RUnlock()
	r.announce([]change{{string(group), conns}})
}
