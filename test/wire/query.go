package wire

import (
	"math"
	"strconv"
	"testing"
)

// Query asks for messages by key.
type Query struct {
	Topic, Key string
	// IndexType is K, U or T; empty leaves it out, as old clients do.
	IndexType string
	// Unique is the value of _UNIQUE_KEY_QUERY; empty leaves it out.
	Unique string
	// MaxNum 0 means 32; Begin and End are store timestamps in ms, End 0 means any.
	MaxNum     int
	Begin, End int64
}

// Query sends QUERY_MESSAGE (12) and returns what was found, with the answer.
func (c *Conn) Query(tb testing.TB, q Query) ([]Message, *Frame) {
	tb.Helper()
	if q.MaxNum == 0 {
		q.MaxNum = 32
	}
	if q.End == 0 {
		q.End = math.MaxInt64
	}
	header := map[string]string{
		"topic": q.Topic, "key": q.Key, "maxNum": strconv.Itoa(q.MaxNum),
		"beginTimestamp": strconv.FormatInt(q.Begin, 10), "endTimestamp": strconv.FormatInt(q.End, 10),
	}
	if q.IndexType != "" {
		header["indexType"] = q.IndexType
	}
	if q.Unique != "" {
		header["_UNIQUE_KEY_QUERY"] = q.Unique
	}
	answer := c.Call(tb, QueryMessage, header, nil)
	messages, err := Messages(answer.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return messages, answer
}

// View reads a message by its CommitLog offset (33).
func (c *Conn) View(tb testing.TB, offset int64) (Message, *Frame) {
	tb.Helper()
	answer := c.Call(tb, ViewMessageByID, map[string]string{"offset": strconv.FormatInt(offset, 10)}, nil)
	if answer.Code != Success {
		return Message{}, answer
	}
	list, err := Messages(answer.Body)
	if err == nil && len(list) != 1 {
		err = errNoMessage
	}
	if err != nil {
		tb.Fatalf("view of %d: %v", offset, err)
	}
	return list[0], answer
}
