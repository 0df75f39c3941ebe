package topic

import "github.com/wheelmq/wheelmq/broker/attribute"

// attributes are those that this server keeps, with the values it knows what to do with: others
// are refused.
var attributes = attribute.Kinds{
	"message.type":   attribute.OneOf("UNSPECIFIED", "NORMAL", "FIFO", "DELAY", "TRANSACTION", "MIXED", "PRIORITY"),
	"queue.type":     {Fixed: true, Values: []string{"SimpleCQ"}},
	"cleanup.policy": {Fixed: true, Values: []string{"DELETE"}},
	"reserve.time":   attribute.From(-1),
}
