package broker

import "github.com/wheelmq/wheelmq/message"

// EachRecord shows every record of the log, in its order.
func (b *Broker) EachRecord(visit func(*message.View) error) error { return b.store.Scan(0, visit) }
