package wire

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Request codes of consumers that pop, and codes of their answers.
const (
	PopMessage          = 200050
	AckMessage          = 200051
	PeekMessage         = 200052
	ChangeInvisibleTime = 200053
	Notification        = 200054
	PollingInfo         = 200055
	BatchAckMessage     = 200151

	NoMessage      = 208
	PollingFull    = 209
	PollingTimeout = 210
)

// AnyQueue pops from all queues of a topic.
const AnyQueue = -1

// Pop is a request for messages. The zero value of MaxMsgNums means 32, of Invisible 60 s, of
// Expression "*"; without Poll it is answered at once.
type Pop struct {
	Group, Topic string
	QueueID      int
	MaxMsgNums   int
	Invisible    time.Duration
	Poll         time.Duration
	// FromMax is initMode 1.
	FromMax                    bool
	Expression, ExpressionType string
	Order                      bool
	AttemptID                  string
	// Born is bornTime, ms; 0 means when the request arrives, however loaded the machine is.
	Born int64
}

// Header is the header of POP_MESSAGE.
func (p Pop) Header() map[string]string {
	if p.MaxMsgNums == 0 {
		p.MaxMsgNums = 32
	}
	if p.Invisible == 0 {
		p.Invisible = time.Minute
	}
	if p.Expression == "" {
		p.Expression = "*"
	}
	if p.ExpressionType == "" {
		p.ExpressionType = "TAG"
	}
	header := map[string]string{
		"consumerGroup": p.Group, "topic": p.Topic, "queueId": strconv.Itoa(p.QueueID), "maxMsgNums": strconv.Itoa(p.MaxMsgNums),
		"invisibleTime": strconv.FormatInt(p.Invisible.Milliseconds(), 10), "pollTime": strconv.FormatInt(p.Poll.Milliseconds(), 10),
		"bornTime": strconv.FormatInt(p.Born, 10), "initMode": "0", "exp": p.Expression, "expType": p.ExpressionType,
		"order": strconv.FormatBool(p.Order),
	}
	if p.FromMax {
		header["initMode"] = "1"
	}
	if p.AttemptID != "" {
		header["attemptId"] = p.AttemptID
	}
	return header
}

// Popped is the answer to a pop.
type Popped struct {
	*Frame
	PopTime, InvisibleTime, RestNum int64
	ReviveQid                       int
	Messages                        []PoppedMessage
}

// PoppedMessage is a message with what its consumer hands back.
type PoppedMessage struct {
	Message
	// Handle is the eight fields of POP_CK, Stored the topic that they are about.
	Handle, Stored string
	group          string
}

// Fields are those of the handle.
func (m *PoppedMessage) Fields() []string { return strings.Fields(m.Handle) }

// Offset is the message's, in its stored queue.
func (m *PoppedMessage) Offset() string { return m.Fields()[7] }

// Pop asks for messages and works out their handles as the Java client does.
func (c *Conn) Pop(ctx context.Context, p Pop) (Popped, error) {
	answer, err := c.Do(ctx, PopMessage, p.Header(), nil)
	if err != nil {
		return Popped{}, err
	}
	got := Popped{Frame: answer}
	number := func(name string) (n int64) {
		n, _ = strconv.ParseInt(answer.Ext[name], 10, 64)
		return n
	}
	got.PopTime, got.InvisibleTime, got.RestNum, got.ReviveQid = number("popTime"), number("invisibleTime"), number("restNum"), int(number("reviveQid"))
	if answer.Code != Success {
		return got, nil
	}
	messages, err := Messages(answer.Body)
	if err != nil {
		return got, err
	}
	for _, m := range messages {
		handle := m.Properties["POP_CK"]
		if handle == "" {
			if handle, err = got.handle(&m); err != nil {
				return got, err
			}
		}
		popped := PoppedMessage{Message: m, Handle: handle, Stored: m.Topic, group: p.Group}
		switch popped.Fields()[4] {
		case "1":
			popped.Stored = "%RETRY%" + p.Group + "_" + p.Topic
		case "2":
			popped.Stored = "%RETRY%" + p.Group + "+" + p.Topic
		}
		got.Messages = append(got.Messages, popped)
	}
	return got, nil
}

// handle is that of a message of the topic itself.
func (p *Popped) handle(m *Message) (string, error) {
	retry := "0"
	switch {
	case strings.HasPrefix(m.Topic, "%RETRY%") && strings.Contains(m.Topic, "+"):
		retry = "2"
	case strings.HasPrefix(m.Topic, "%RETRY%"):
		retry = "1"
	}
	queue := fmt.Sprintf("%s %d ", retry, m.QueueID)
	start := ""
	for one := range strings.SplitSeq(p.Ext["startOffsetInfo"], ";") {
		if rest, ok := strings.CutPrefix(one, queue); ok {
			start = rest
		}
	}
	listed := false
	for one := range strings.SplitSeq(p.Ext["msgOffsetInfo"], ";") {
		if rest, ok := strings.CutPrefix(one, queue); ok {
			for offset := range strings.SplitSeq(rest, ",") {
				listed = listed || offset == strconv.FormatInt(m.QueueOffset, 10)
			}
		}
	}
	if start == "" || !listed {
		return "", fmt.Errorf("wire: message %d of queue %d is not in %v", m.QueueOffset, m.QueueID, p.Ext)
	}
	return fmt.Sprintf("%s %d %d %d %s broker-a %d %d", start, p.PopTime, p.InvisibleTime, p.ReviveQid, retry, m.QueueID, m.QueueOffset), nil
}

// MustPop is Pop that ends the test when there is no answer.
func (c *Conn) MustPop(tb testing.TB, p Pop) Popped {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), p.Poll+Timeout)
	defer cancel()
	got, err := c.Pop(ctx, p)
	if err != nil {
		tb.Fatalf("pop %s@%d: %v", p.Topic, p.QueueID, err)
	}
	return got
}

// handleHeader is the header of a request about a message.
func (m *PoppedMessage) handleHeader() map[string]string {
	fields := m.Fields()
	return map[string]string{
		"consumerGroup": m.group, "topic": m.Stored, "queueId": fields[6], "offset": fields[7], "extraInfo": m.Handle,
	}
}

// Ack acknowledges a message (200051).
func (c *Conn) Ack(tb testing.TB, m PoppedMessage) *Frame {
	tb.Helper()
	return c.Call(tb, AckMessage, m.handleHeader(), nil)
}

// ChangeInvisible makes a message invisible for d from now on (200053) and gives it its new handle.
func (c *Conn) ChangeInvisible(tb testing.TB, m *PoppedMessage, d time.Duration) *Frame {
	tb.Helper()
	header := m.handleHeader()
	header["invisibleTime"] = strconv.FormatInt(d.Milliseconds(), 10)
	answer := c.Call(tb, ChangeInvisibleTime, header, nil)
	if answer.Code == Success {
		m.Handle = m.Renewed(answer.Ext)
	}
	return answer
}

// BatchAck acknowledges messages of one pop (200151).
func (c *Conn) BatchAck(tb testing.TB, topic string, messages ...PoppedMessage) *Frame {
	tb.Helper()
	type ack struct {
		Group     string `json:"c"`
		Topic     string `json:"t"`
		Retry     string `json:"r"`
		Start     int64  `json:"so"`
		QueueID   int64  `json:"q"`
		ReviveQid int64  `json:"rq"`
		PopTime   int64  `json:"pt"`
		Invisible int64  `json:"it"`
		Bits      string `json:"b"`
	}
	acks := []ack{}
	for _, m := range messages {
		var n [8]int64
		for i, field := range m.Fields() {
			n[i], _ = strconv.ParseInt(field, 10, 64)
		}
		at := n[7] - n[0]
		bits := make([]byte, at/8+1)
		bits[at/8] = 1 << (at % 8)
		acks = append(acks, ack{m.group, topic, m.Fields()[4], n[0], n[6], n[3], n[1], n[2], base64.StdEncoding.EncodeToString(bits)})
	}
	body, err := json.Marshal(map[string]any{"brokerName": "broker-a", "acks": acks})
	if err != nil {
		tb.Fatal(err)
	}
	return c.Call(tb, BatchAckMessage, nil, body)
}

// Notify asks whether there is something to pop, and waits for it (200054).
func (c *Conn) Notify(ctx context.Context, p Pop) (*Frame, error) {
	return c.Do(ctx, Notification, p.Header(), nil)
}

// Peek looks at what a pop would get (200052).
func (c *Conn) Peek(tb testing.TB, p Pop) Popped {
	tb.Helper()
	header := p.Header()
	for name := range header {
		switch name {
		case "consumerGroup", "topic", "queueId", "maxMsgNums":
		default:
			delete(header, name)
		}
	}
	answer := c.Call(tb, PeekMessage, header, nil)
	got := Popped{Frame: answer}
	got.RestNum, _ = strconv.ParseInt(answer.Ext["restNum"], 10, 64)
	messages, err := Messages(answer.Body)
	if err != nil {
		tb.Fatal(err)
	}
	for _, m := range messages {
		got.Messages = append(got.Messages, PoppedMessage{Message: m})
	}
	return got
}

// HandleHeader is the header of a request about a message that was popped: AckMessage, and with
// "invisibleTime" ChangeInvisibleTime.
func (m *PoppedMessage) HandleHeader() map[string]string { return m.handleHeader() }

// Renewed is the handle of a message whose invisible time was changed, from the answer's header.
func (m *PoppedMessage) Renewed(ext map[string]string) string {
	fields := m.Fields()
	fields[1], fields[2], fields[3] = ext["popTime"], ext["invisibleTime"], ext["reviveQid"]
	return strings.Join(fields, " ")
}
