package admin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/netip"
	"slices"
	"strconv"

	"github.com/wheelmq/wheelmq/broker/schedule"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

// producerGroup is the group that messages are sent in.
const producerGroup = "WHEELMQ_CLI"

// defaultQueues is how many queues a topic is to have that a send creates.
const defaultQueues = 4

// ToSend is a message to send.
type ToSend struct {
	Tags, Keys string
	Properties map[string]string
	DelayLevel int   // 0: none
	DelayMs    int64 // how long it waits; 0: it does not
	DeliverMs  int64 // instant at which it is due, ms since the epoch; 0: at once
	QueueID    int32 // negative: each queue in turn
	Body       []byte
}

// Sent says where a message is. For a delayed one that is where it waits.
type Sent struct {
	MsgID        string `json:"msgId"`
	OffsetMsgID  string `json:"offsetMsgId"`
	Broker       string `json:"broker"`
	QueueID      int32  `json:"queueId"`
	QueueOffset  int64  `json:"queueOffset"`
	RecallHandle string `json:"recallHandle,omitempty"`
	// Status is SEND_OK, or what lacks of it: the message is stored.
	Status string `json:"status"`
}

// statuses of stored messages by response code.
var statuses = map[int32]string{
	remoting.Success: "SEND_OK", remoting.FlushDiskTimeout: "FLUSH_DISK_TIMEOUT",
	remoting.SlaveNotAvailable: "SLAVE_NOT_AVAILABLE", remoting.FlushSlaveTimeout: "FLUSH_SLAVE_TIMEOUT",
}

// Sender sends to one topic. It is used by one goroutine.
type Sender struct {
	c      *Client
	topic  string
	queues []sendQueue
	levels map[string]schedule.Levels // of the brokers that were asked
	next   int
	now    clock.Clock
}

type sendQueue struct {
	broker Broker
	id     int32
}

// Sender finds the queues of a topic. A topic that does not exist yet is created by the first message, on
// brokers that allow it.
func (c *Client) Sender(ctx context.Context, topic string) (*Sender, error) {
	route, err := c.Route(ctx, topic)
	if errors.Is(err, ErrNotFound) {
		return c.creatingSender(ctx, topic)
	}
	if err != nil {
		return nil, err
	}
	return c.senderOver(topic, route, math.MaxInt32)
}

// creatingSender is one for a topic that its first message creates.
func (c *Client) creatingSender(ctx context.Context, topic string) (*Sender, error) {
	route, err := c.Route(ctx, message.TopicAutoCreate)
	if errors.Is(err, ErrNotFound) {
		return nil, fmt.Errorf("admin: topic %q: %w, and no broker creates topics for sends (autoCreateTopicEnable)", topic, ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	return c.senderOver(topic, route, defaultQueues)
}

func (c *Client) senderOver(topic string, route *Route, most int32) (*Sender, error) {
	s := &Sender{c: c, topic: topic, levels: make(map[string]schedule.Levels), now: clock.Real{}}
	for _, q := range route.Queues {
		b := route.Broker(q.BrokerName)
		if b.Addr == "" || q.Perm&permWrite == 0 {
			continue
		}
		for id := range min(q.WriteQueueNums, most) {
			s.queues = append(s.queues, sendQueue{b, id})
		}
	}
	if len(s.queues) == 0 {
		return nil, fmt.Errorf("admin: topic %q has no queue that may be written to", topic)
	}
	return s, nil
}

// Send sends one message (SEND_MESSAGE_V2, 310).
func (s *Sender) Send(ctx context.Context, m *ToSend) (Sent, error) {
	queue, err := s.choose(m.QueueID)
	if err != nil {
		return Sent{}, err
	}
	if err := s.checkLevel(ctx, queue.broker, m.DelayLevel); err != nil {
		return Sent{}, err
	}
	now := s.now.NowMillis()
	id := string(message.AppendUniqKey(nil, netip.AddrFrom4([4]byte{127, 0, 0, 1}), idMillis(now)))
	request := &remoting.SendMessageRequest{
		ProducerGroup: []byte(producerGroup), Topic: []byte(s.topic), DefaultTopic: []byte(message.TopicAutoCreate),
		DefaultTopicQueueNums: defaultQueues, QueueID: queue.id, BornTimestamp: now, Properties: m.properties(id), MaxReconsumeTimes: -1,
	}
	reply, err := s.c.exchange(ctx, queue.broker.Addr, remoting.SendMessageV2, sendHeader{request}, m.Body)
	if err != nil {
		return Sent{}, err
	}
	status, stored := statuses[reply.Code]
	if !stored {
		return Sent{}, &remoting.Error{Code: reply.Code, Remark: firstLine(reply.Remark)}
	}
	var head remoting.SendMessageResponse
	if err := head.Decode(&reply.Ext); err != nil {
		return Sent{}, fmt.Errorf("admin: the answer to a send: %w", err)
	}
	return Sent{
		MsgID: id, OffsetMsgID: head.MsgID, Broker: queue.broker.Name, QueueID: head.QueueID, QueueOffset: head.QueueOffset,
		RecallHandle: head.RecallHandle, Status: status,
	}, nil
}

// sendHeader encodes the short names.
type sendHeader struct{ *remoting.SendMessageRequest }

// Encode writes the fields of SEND_MESSAGE_V2.
func (h sendHeader) Encode(w *remoting.ExtWriter) { h.EncodeV2(w) }

func (s *Sender) choose(queueID int32) (sendQueue, error) {
	if queueID < 0 {
		s.next++
		return s.queues[s.next%len(s.queues)], nil
	}
	for _, q := range s.queues {
		if q.id == queueID {
			return q, nil
		}
	}
	return sendQueue{}, fmt.Errorf("admin: topic %q has no queue %d that may be written to: %w", s.topic, queueID, ErrNotFound)
}

func (m *ToSend) properties(id string) (props []byte) {
	for _, name := range slices.Sorted(maps.Keys(m.Properties)) {
		props = message.PropertyAppend(props, name, m.Properties[name])
	}
	add := func(name, value string) {
		if value != "" {
			props = message.PropertyAppend(props, name, value)
		}
	}
	add(message.PropertyUniqKey, id)
	add(message.PropertyTags, m.Tags)
	add(message.PropertyKeys, m.Keys)
	add(message.PropertyWait, "true")
	if m.DelayLevel > 0 {
		add(message.PropertyDelay, strconv.Itoa(m.DelayLevel))
	}
	if m.DelayMs > 0 {
		add(message.PropertyTimerDelayMs, strconv.FormatInt(m.DelayMs, 10))
	}
	if m.DeliverMs > 0 {
		add(message.PropertyTimerDeliverMs, strconv.FormatInt(m.DeliverMs, 10))
	}
	return props
}
