package wire

import (
	"context"
	"strconv"
	"testing"
	"time"
)

// Request codes of transactions.
const (
	EndTransaction         = 37
	CheckTransactionState  = 39
	ResumeCheckHalfMessage = 323
)

// How a transaction ends, as commitOrRollback says it.
const (
	CommitTransaction   = 8
	RollbackTransaction = 12
)

// Topics of transactions.
const (
	HalfTopic          = "RMQ_SYS_TRANS_HALF_TOPIC"
	OpTopic            = "RMQ_SYS_TRANS_OP_HALF_TOPIC"
	TransCheckMaxTopic = "TRANS_CHECK_MAX_TIME_TOPIC"
)

// transactionPrepared is the sysFlag of a half message.
const transactionPrepared = 4

// Half is a half message as its producer knows it.
type Half struct {
	Group           string
	UniqKey         string
	QueueOffset     int64
	CommitLogOffset int64
}

// Prepare stores a half message, whose body and UNIQ_KEY are key; properties are names and values.
func (c *Conn) Prepare(tb testing.TB, topic, group, key string, properties ...string) Half {
	tb.Helper()
	sent := c.MustSend(tb, Send{
		Topic: topic, Body: []byte(key), SysFlag: transactionPrepared,
		Properties: Properties(append([]string{"UNIQ_KEY", key, "TRAN_MSG", "true", "PGROUP", group}, properties...)...),
	})
	return Half{Group: group, UniqKey: key, QueueOffset: sent.QueueOffset, CommitLogOffset: sent.CommitLogOffset}
}

// End ends a transaction (37), as an answer to a check or not. Clients want no answer; this one does.
func (c *Conn) End(tb testing.TB, h Half, how int, checked bool) *Frame {
	tb.Helper()
	return c.Call(tb, EndTransaction, map[string]string{
		"producerGroup": h.Group, "tranStateTableOffset": strconv.FormatInt(h.QueueOffset, 10),
		"commitLogOffset": strconv.FormatInt(h.CommitLogOffset, 10), "commitOrRollback": strconv.Itoa(how),
		"fromTransactionCheck": strconv.FormatBool(checked), "msgId": h.UniqKey, "transactionId": h.UniqKey,
	}, nil)
}

// Question is a CHECK_TRANSACTION_STATE (39).
type Question struct {
	Half    Half
	Message Message
	Header  map[string]string
	At      time.Time
}

// Question waits for one, and returns false when none comes within a time.
func (c *Conn) Question(tb testing.TB, group string, within time.Duration) (q Question, ok bool) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	for {
		select {
		case f := <-c.Requests():
			if f.Code != CheckTransactionState {
				continue
			}
			messages, err := Messages(f.Body)
			if err != nil || len(messages) != 1 {
				tb.Fatalf("the body of a question: %d messages, %v", len(messages), err)
			}
			return Question{
				Half: Half{Group: group, UniqKey: f.Ext["msgId"], QueueOffset: f.Int64(tb, "tranStateTableOffset"),
					CommitLogOffset: f.Int64(tb, "commitLogOffset")},
				Message: messages[0], Header: f.Ext, At: time.Now(),
			}, true
		case <-ctx.Done():
			return Question{}, false
		}
	}
}
