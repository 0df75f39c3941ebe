package wire

import (
	"strconv"
	"testing"
	"time"
)

// Send is a message to store.
type Send struct {
	Topic      string
	QueueID    int
	Properties string
	Body       []byte
	SysFlag    int
	Flag       int
	// DefaultQueues is what a client asks for when the topic must be created; 0 means 4.
	DefaultQueues int
}

// Header is the header of SEND_MESSAGE_V2 (310) with its one-letter names.
func (s Send) Header() map[string]string {
	queues := s.DefaultQueues
	if queues == 0 {
		queues = 4
	}
	return map[string]string{
		"a": "wire", "b": s.Topic, "c": "TBW102", "d": strconv.Itoa(queues), "e": strconv.Itoa(s.QueueID),
		"f": strconv.Itoa(s.SysFlag), "g": strconv.FormatInt(time.Now().UnixMilli(), 10), "h": strconv.Itoa(s.Flag),
		"i": s.Properties, "j": "0", "k": "false", "m": "false",
	}
}

// Send stores a message and returns the answer, whatever its code.
func (c *Conn) Send(tb testing.TB, s Send) *Frame {
	tb.Helper()
	return c.Call(tb, SendMessageV2, s.Header(), s.Body)
}

// Sent is what a broker says about a stored message.
type Sent struct {
	MsgID       string
	QueueID     int
	QueueOffset int64
	// CommitLogOffset is taken from MsgID.
	CommitLogOffset int64
}

// MustSend stores a message and ends the test unless the code is 0.
func (c *Conn) MustSend(tb testing.TB, s Send) Sent {
	tb.Helper()
	answer := c.Send(tb, s)
	if answer.Code != Success {
		tb.Fatalf("send to %s: %v", s.Topic, answer)
	}
	sent := Sent{
		MsgID:       answer.Ext["msgId"],
		QueueID:     answer.Int(tb, "queueId"),
		QueueOffset: answer.Int64(tb, "queueOffset"),
	}
	var err error
	if _, sent.CommitLogOffset, err = ParseMsgID(sent.MsgID); err != nil {
		tb.Fatal(err)
	}
	return sent
}

// SendBatch stores a batch (320). The answer lists the ids separated by commas.
func (c *Conn) SendBatch(tb testing.TB, s Send, items ...BatchItem) *Frame {
	tb.Helper()
	header := s.Header()
	header["m"] = "true"
	return c.Call(tb, SendBatchMessage, header, Batch(items...))
}

// SendBack asks for a redelivery (36) of the message at a CommitLog offset.
func (c *Conn) SendBack(tb testing.TB, group, topic string, offset int64, delayLevel int) *Frame {
	tb.Helper()
	return c.Call(tb, ConsumerSendMsgBack, map[string]string{
		"group": group, "offset": strconv.FormatInt(offset, 10), "delayLevel": strconv.Itoa(delayLevel),
		"originTopic": topic, "unitMode": "false", "maxReconsumeTimes": "16",
	}, nil)
}
