package client

import (
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
