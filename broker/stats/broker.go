package stats

// The broker's own counters. User leaves out system topics.
const (
	puts = iota // messages
	putsUser
	gots
	gotsUser
	acks // popped messages that were acknowledged
	checkpoints
	brokerCounters
)
