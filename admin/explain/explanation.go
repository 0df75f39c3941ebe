package explain

import "github.com/wheelmq/wheelmq/admin"

// State is what a message is doing.
type State string

// The states, of messages and of what single groups made of them.
const (
	Stored     State = "stored"     // in its topic, to be consumed
	Delayed    State = "delayed"    // waits at a delay level
	Timer      State = "timer"      // waits for its instant
	Cancelled  State = "cancelled"  // was recalled before its instant
	Half       State = "half"       // of a transaction that is open
	RolledBack State = "rolledBack" // of a transaction that its producer took back
	GivenUp    State = "givenUp"    // of a transaction whose producer never answered
	InFlight   State = "inFlight"   // handed out by a pop and not acknowledged
	Retried    State = "retried"    // a group failed at it and will be given it again
	Dead       State = "dead"       // a group failed at it to the end
	Parked     State = "parked"     // was due, and its topic refuses it
	Filtered   State = "filtered"   // no group wants it
	Consumed   State = "consumed"
	Expired    State = "expired" // was stored, and was deleted since
)

// Explanation is where a message is, and why.
type Explanation struct {
	MsgID    string `json:"msgId"`
	Topic    string `json:"topic"` // its own, also while it waits in another
	State    State  `json:"state"`
	Sentence string `json:"sentence"`
	// DueMs is when what it waits for happens, ms since the epoch; 0: it waits for no instant.
	DueMs   int64    `json:"dueMs,omitempty"`
	Groups  []Group  `json:"groups"`  // that read its topic
	Records []Record `json:"records"` // of it, the oldest first
}

// Record is where one record of the message is.
type Record struct {
	Topic       string `json:"topic"`
	Broker      string `json:"broker"`
	QueueID     int32  `json:"queueId"`
	QueueOffset int64  `json:"queueOffset"`
	OffsetMsgID string `json:"offsetMsgId"`
	StoreMs     int64  `json:"storeMs"` // ms since the epoch
}

func recordsOf(list []admin.Message) []Record {
	records := make([]Record, len(list))
	for i, m := range list {
		records[i] = Record{Topic: m.Topic, Broker: m.Broker, QueueID: m.QueueID, QueueOffset: m.QueueOffset, OffsetMsgID: m.OffsetMsgID, StoreMs: m.StoreMs}
	}
	return records
}

// Group is what one consumer group made of the message.
type Group struct {
	Group string `json:"group"`
	State State  `json:"state"`
	Says  string `json:"says"`
	AtMs  int64  `json:"atMs,omitempty"`  // when it was consumed, where a trace tells; given up
	DueMs int64  `json:"dueMs,omitempty"` // when it comes again
}

// rank says which group's state is the message's: the one that wants attention most.
var rank = map[State]int{Filtered: 1, Consumed: 2, Stored: 3, InFlight: 4, Retried: 5, Dead: 6}
