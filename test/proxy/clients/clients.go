// Package clients runs the official clients of RocketMQ's gRPC protocol, each in a process of its own
// that a test tells what to do: a command is a line of JSON, and so is its answer.
//
// One process holds many producers and consumers, by the names that commands give them, and carries
// commands out at the same time. The four programs below this directory differ in the client only, so
// that one scenario is one piece of Go.
package clients

// Operations.
const (
	// Producer makes one for Topic, whose transaction checker answers Resolution.
	Producer = "producer"
	// Simple makes a simple consumer of Group for Topic, filtered by Filter.
	Simple = "simple"
	// Push makes a push consumer, whose listener fails the first Fail times that it meets a body and
	// tells of every delivery.
	Push = "push"
	// Send sends Message; Transaction does it in a transaction that it ends with Resolution.
	Send        = "send"
	Transaction = "transaction"
	// Recall takes back the message of Handle.
	Recall = "recall"
	// Receive receives at most Max messages for InvisibleMillis. Nothing within the await time is no error.
	Receive = "receive"
	// Ack and Invisible are about the received message Ref.
	Ack       = "ack"
	Invisible = "invisible"
	// Close ends a client.
	Close = "close"
)

// Resolutions of a transaction; anything else leaves it open.
const (
	Commit   = "commit"
	Rollback = "rollback"
)

// Events.
const (
	// Delivered says that a push consumer's listener has met a message.
	Delivered = "delivered"
	// Checked says that a producer was asked about a transaction.
	Checked = "checked"
)

// Command tells a process what to do. Client names the producer or consumer.
type Command struct {
	ID              int      `json:"id"`
	Op              string   `json:"op"`
	Client          string   `json:"client"`
	Topic           string   `json:"topic,omitempty"`
	Group           string   `json:"group,omitempty"`
	Filter          string   `json:"filter,omitempty"`
	SQL             bool     `json:"sql,omitempty"`
	AwaitMillis     int      `json:"awaitMillis,omitempty"`
	Message         *Message `json:"message,omitempty"`
	Resolution      string   `json:"resolution,omitempty"`
	Handle          string   `json:"handle,omitempty"`
	Ref             int      `json:"ref"`
	Max             int      `json:"max,omitempty"`
	InvisibleMillis int      `json:"invisibleMillis,omitempty"`
	Fail            int      `json:"fail,omitempty"`
}

// Message is one to send, or one that was received.
type Message struct {
	Topic      string            `json:"topic"`
	Body       string            `json:"body"`
	Tag        string            `json:"tag,omitempty"`
	Keys       []string          `json:"keys,omitempty"`
	Properties map[string]string `json:"properties,omitempty"`
	// Group is the message group, within which there is an order.
	Group string `json:"group,omitempty"`
	// DeliverAt is in milliseconds since 1970; 0 is at once.
	DeliverAt int64 `json:"deliverAt,omitempty"`

	// ID and what follows are of received messages. Attempt counts from 1.
	ID      string `json:"id,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
	Ref     int    `json:"ref"`
}

// Reply answers the command ID, or tells of an Event.
type Reply struct {
	ID           int       `json:"id,omitempty"`
	Error        string    `json:"error,omitempty"`
	MessageID    string    `json:"messageId,omitempty"`
	RecallHandle string    `json:"recallHandle,omitempty"`
	Messages     []Message `json:"messages,omitempty"`

	Event  string `json:"event,omitempty"`
	Client string `json:"client,omitempty"`
}
