package control

import (
	"errors"
	"time"

	"github.com/wheelmq/wheelmq/broker/virtualtime"
)

// Errors that callers tell apart.
var (
	// ErrRealClock is returned by what turns the clock of a server that has none to turn.
	ErrRealClock = errors.New("this server runs on the real clock: start it with a virtual one")
	// ErrNotFound is wrapped for a fault, snapshot, topic or group that does not exist.
	ErrNotFound = errors.New("not found")
	// ErrRefused is wrapped for what the broker would do at another time, but not now: its disk is
	// full, it is busy.
	ErrRefused = errors.New("refused")
	// ErrTooLate is wrapped for a pending message that is delivered, or on its way.
	ErrTooLate = errors.New("too late")
	// ErrInvalid is wrapped for a rule or a request that makes no sense.
	ErrInvalid = errors.New("invalid")
)

// What can end a turn of the clock early.
var (
	// ErrNothingPending is wrapped when there is no due instant to go to.
	ErrNothingPending = virtualtime.ErrNothingPending
	// ErrLimit is wrapped when the limit was reached before the condition held.
	ErrLimit = virtualtime.ErrLimit
	// ErrBusy is wrapped when clients did not finish with what they were given; the text names
	// who and what.
	ErrBusy = virtualtime.ErrBusy
)

// ClockState is where the clock of messages stands.
type ClockState struct {
	Virtual   bool  `json:"virtual"`
	NowMs     int64 `json:"nowMs"`               // ms since the Unix epoch
	NextDueMs int64 `json:"nextDueMs,omitempty"` // of the earliest pending message; 0: nothing is pending
	Pending   int64 `json:"pending"`             // messages that wait for their time
	AutoSkip  bool  `json:"autoSkip"`
}

// Moved is what turning the clock has done.
type Moved struct {
	FromMs    int64 `json:"fromMs"` // ms since the Unix epoch
	NowMs     int64 `json:"nowMs"`
	Steps     int   `json:"steps"`     // due instants that were stopped at
	Delivered int64 `json:"delivered"` // messages that came due
}

// Until is a condition to turn the clock towards; all parts that are set must hold.
type Until struct {
	Topic    string `json:"topic,omitempty"`    // has at least Messages messages
	Messages int64  `json:"messages,omitempty"` // 0 counts as 1 with a Topic
	Group    string `json:"group,omitempty"`    // has consumed at least Consumed messages
	Consumed int64  `json:"consumed,omitempty"` // 0 counts as 1 with a Group
	Idle     bool   `json:"idle,omitempty"`     // nothing is pending and nobody is at work
}

// Message is a message in a queue.
type Message struct {
	Topic           string            `json:"topic"`
	QueueID         int32             `json:"queueId"`
	QueueOffset     int64             `json:"queueOffset"`
	CommitLogOffset int64             `json:"commitLogOffset"`
	MsgID           string            `json:"msgId"`       // the client's (UNIQ_KEY)
	OffsetMsgID     string            `json:"offsetMsgId"` // address and log offset
	Tags            string            `json:"tags,omitempty"`
	Keys            string            `json:"keys,omitempty"`
	BornMs          int64             `json:"bornMs"`
	StoreMs         int64             `json:"storeMs"`
	ReconsumeTimes  int32             `json:"reconsumeTimes"`
	Properties      map[string]string `json:"properties,omitempty"`
	Body            []byte            `json:"body"` // base64 in JSON; as stored, perhaps compressed
}

// Pending is a message that waits for its time.
type Pending struct {
	Message        // as it will be in its topic, but for its place
	ID      string `json:"id"`              // as long as it pends; another instant gives it another one
	DueMs   int64  `json:"dueMs"`           // ms since the Unix epoch
	Level   int    `json:"level,omitempty"` // delay level, 0 for a timer
	Service string `json:"service"`         // schedule or timer
}

// PendingFilter selects pending messages: all parts that are set must hold.
type PendingFilter struct {
	Topic string `json:"topic,omitempty"` // they will be in
	Key   string `json:"key,omitempty"`   // one of their keys, or the client's message ID
	// FromMs and ToMs bound the due instants, ms since the Unix epoch: from, and before; 0: none.
	FromMs int64 `json:"fromMs,omitempty"`
	ToMs   int64 `json:"toMs,omitempty"`
	// After is Next of the page before, "" for the first one.
	After string `json:"after,omitempty"`
	Limit int    `json:"limit,omitempty"` // messages of a page
}

// PendingPage are the first pending messages of those that a filter selects.
type PendingPage struct {
	// Total is how many are selected, those behind the page too. It is counted for the first page only,
	// and up to MaxTotal: AtLeast tells that there are more. CountPending counts them all.
	Total   int64     `json:"total"`
	AtLeast bool      `json:"atLeast,omitempty"`
	Pending []Pending `json:"pending"`
	Next    string    `json:"next,omitempty"` // for After; "": there are no more
	// Unread is how many records of what pends were met that cannot be read, which is logged: messages
	// may be missing from the page, or be in it though they are cancelled.
	Unread int64 `json:"unread,omitempty"`
}

// MaxTotal is up to where the total of a list is counted: nobody waits for millions to see ten.
const MaxTotal = 10_000

// PendingCount is how many pending messages are for one topic, or due within one step of time. One
// with neither counts the records that cannot be read.
type PendingCount struct {
	Topic    string `json:"topic,omitempty"`
	FromMs   int64  `json:"fromMs,omitempty"` // the step begins with this instant, ms since the Unix epoch
	Messages int64  `json:"messages"`
}

// Parked is a message that its target refused for good.
type Parked struct {
	Message        // as it is parked, with the topic and queue that it was for
	ID      string `json:"id"`
	Service string `json:"service"` // that wanted to deliver it: schedule or timer
	Reason  string `json:"reason"`  // in the target's words
}

// Produce is a message to store as if a client had sent it.
type Produce struct {
	Topic      string            `json:"topic"`
	QueueID    *int32            `json:"queueId,omitempty"` // nil: each queue in turn
	Tags       string            `json:"tags,omitempty"`
	Keys       string            `json:"keys,omitempty"`
	DelayLevel int               `json:"delayLevel,omitempty"`
	Properties map[string]string `json:"properties,omitempty"`
	Body       []byte            `json:"body"`
}

// Produced says where a message was stored. For a delayed one that is where it waits.
type Produced struct {
	MsgID       string `json:"msgId"`
	OffsetMsgID string `json:"offsetMsgId"`
	QueueID     int32  `json:"queueId"`
	QueueOffset int64  `json:"queueOffset"`
}

// Lag is how far a group is behind on a topic.
type Lag struct {
	Group string `json:"group"`
	Topic string `json:"topic"`
	Lag   int64  `json:"lag"` // messages not committed
}

// Difference is something that clients relied on and the real broker lacks.
type Difference struct {
	Name  string `json:"name"` // as in docs/differences.md
	Count int64  `json:"count"`
	Real  string `json:"real"` // what the real 5.5.0 does
	Ours  string `json:"ours"`
}

// Exchange is one request and its answer.
type Exchange struct {
	At       time.Time     `json:"at"`     // real time
	Server   string        `json:"server"` // broker or namesrv
	Client   string        `json:"client"` // host:port, and the client ID once known
	Code     int32         `json:"code"`
	Name     string        `json:"name"`            // RocketMQ's constant, e.g. SEND_MESSAGE_V2
	Topic    string        `json:"topic,omitempty"` // of the request
	Group    string        `json:"group,omitempty"`
	QueueID  string        `json:"queueId,omitempty"`
	Offset   string        `json:"offset,omitempty"` // asked for, committed or stored at
	Result   string        `json:"result"`           // the response code's name; held, dropped, oneway …
	Remark   string        `json:"remark,omitempty"`
	Duration time.Duration `json:"durationNs"`
	Fault    string        `json:"fault,omitempty"` // ID of the rule that applied
}
