package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"strconv"
	"testing"
	"time"
)

// Request codes of RocketMQ 5.5.0 that the suites send or receive.
const (
	SendMessage               = 10
	PullMessage               = 11
	QueryMessage              = 12
	QueryConsumerOffset       = 14
	UpdateConsumerOffset      = 15
	CreateTopic               = 17
	GetMaxOffset              = 30
	GetMinOffset              = 31
	ViewMessageByID           = 33
	Heartbeat                 = 34
	UnregisterClient          = 35
	ConsumerSendMsgBack       = 36
	GetConsumerList           = 38
	NotifyIDsChanged          = 40
	LockBatchMQ               = 41
	UnlockBatchMQ             = 42
	CheckClientConfig         = 46
	GetTimerCheckPoint        = 60
	GetTimerMetrics           = 61
	RegisterBroker            = 103
	UnregisterBroker          = 104
	GetRouteByTopic           = 105
	GetTopicStatsInfo         = 202
	GetConsumerConnectionList = 203
	GetConsumeStats           = 208
	RegisterTopicInNameServer = 217
	SendMessageV2             = 310
	ViewBrokerStatsData       = 315
	SendBatchMessage          = 320
	QueryDataVersion          = 322
	SendReplyMessage          = 324
	SendReplyMessageV2        = 325
	PushReplyMessage          = 326
	RecallMessage             = 370
	QueryAssignment           = 400
	SetMessageRequestMode     = 401
	GetAllMessageRequestMode  = 402
	GetBrokerMemberGroup      = 901
)

// Response codes that the suites expect.
const (
	Success              = 0
	SystemError          = 1
	NotSupported         = 3
	MessageIllegal       = 13
	NoPermission         = 16
	TopicNotExist        = 17
	PullNotFound         = 19
	PullRetryImmediately = 20
	PullOffsetMoved      = 21
	QueryNotFound        = 22
	SubscriptionBroken   = 23
	SubscriptionNotExist = 24
	GroupNotExist        = 26
	FilterDataNotExist   = 27
	InvalidParameter     = 29
	ConsumerNotOnline    = 206
	IllegalOperation     = 604
)

// Bits of the sysFlag of a pull.
const (
	PullCommitOffset = 1
	PullSuspend      = 2
	PullSubscription = 4
)

// ScheduleTopic is where delayed messages wait; queue = level - 1.
const ScheduleTopic = "SCHEDULE_TOPIC_XXXX"

// TimerTopic is where any-time delayed messages wait, in queue 0.
const TimerTopic = "rmq_sys_wheel_timer"

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

// Pull is a request for messages. The zero value of MaxMsgNums means 32, of
// Subscription "*".
type Pull struct {
	Group, Topic string
	QueueID      int
	Offset       int64
	MaxMsgNums   int
	Subscription string
	// ExpressionType is TAG when empty.
	ExpressionType string
	// Suspend asks the broker to wait that long for a message to arrive.
	Suspend time.Duration
}

// Pulled is the answer to a pull.
type Pulled struct {
	*Frame
	NextBeginOffset, MinOffset, MaxOffset int64
	Messages                              []Message
}

// Pull asks for messages with the subscription in the request. A client that
// is in no group can do so, because the broker creates the group.
func (c *Conn) Pull(ctx context.Context, p Pull) (Pulled, error) {
	if p.MaxMsgNums == 0 {
		p.MaxMsgNums = 32
	}
	if p.ExpressionType == "" {
		p.ExpressionType = "TAG"
	}
	if p.Subscription == "" && p.ExpressionType == "TAG" {
		p.Subscription = "*"
	}
	flag := PullSubscription
	if p.Suspend > 0 {
		flag |= PullSuspend
	}
	answer, err := c.Do(ctx, PullMessage, map[string]string{
		"consumerGroup": p.Group, "topic": p.Topic, "queueId": strconv.Itoa(p.QueueID),
		"queueOffset": strconv.FormatInt(p.Offset, 10), "maxMsgNums": strconv.Itoa(p.MaxMsgNums),
		"sysFlag": strconv.Itoa(flag), "commitOffset": "0",
		"suspendTimeoutMillis": strconv.FormatInt(p.Suspend.Milliseconds(), 10),
		"subVersion":           "0", "subscription": p.Subscription, "expressionType": p.ExpressionType,
	}, nil)
	if err != nil {
		return Pulled{}, err
	}
	result := Pulled{Frame: answer}
	result.NextBeginOffset, _ = strconv.ParseInt(answer.Ext["nextBeginOffset"], 10, 64)
	result.MinOffset, _ = strconv.ParseInt(answer.Ext["minOffset"], 10, 64)
	result.MaxOffset, _ = strconv.ParseInt(answer.Ext["maxOffset"], 10, 64)
	if answer.Code == Success {
		result.Messages, err = Messages(answer.Body)
	}
	return result, err
}

// MustPull is Pull that ends the test when there is no answer.
func (c *Conn) MustPull(tb testing.TB, p Pull) Pulled {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), p.Suspend+Timeout)
	defer cancel()
	got, err := c.Pull(ctx, p)
	if err != nil {
		tb.Fatalf("pull %s@%d: %v", p.Topic, p.QueueID, err)
	}
	return got
}

// PullAll pulls a queue from its beginning until the broker has nothing more.
func (c *Conn) PullAll(tb testing.TB, p Pull) []Message {
	tb.Helper()
	var all []Message
	for {
		got := c.MustPull(tb, p)
		switch got.Code {
		case Success:
			all = append(all, got.Messages...)
			p.Offset = got.NextBeginOffset
		case PullRetryImmediately:
			p.Offset = got.NextBeginOffset
		case PullNotFound:
			return all
		default:
			tb.Fatalf("pull %s@%d at %d: %v", p.Topic, p.QueueID, p.Offset, got.Frame)
		}
	}
}

// MaxOffset asks for the end of a queue (30); an unknown one has 0.
func (c *Conn) MaxOffset(tb testing.TB, topic string, queueID int) int64 {
	tb.Helper()
	answer := c.Call(tb, GetMaxOffset, map[string]string{"topic": topic, "queueId": strconv.Itoa(queueID)}, nil)
	if answer.Code != Success {
		tb.Fatalf("max offset of %s@%d: %v", topic, queueID, answer)
	}
	return answer.Int64(tb, "offset")
}

// Settle waits until a queue ends at end: the real broker appends to the
// CommitLog, answers, and adds to the queue a moment later.
func (c *Conn) Settle(tb testing.TB, topic string, queueID int, end int64) {
	tb.Helper()
	const pause = 5 * time.Millisecond
	for deadline := time.Now().Add(Timeout); ; time.Sleep(pause) {
		got := c.MaxOffset(tb, topic, queueID)
		if got == end {
			return
		}
		if got > end || time.Now().After(deadline) {
			tb.Fatalf("queue %d of %s ends at %d, want %d", queueID, topic, got, end)
		}
	}
}

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

// Topic is a topic's configuration as UPDATE_AND_CREATE_TOPIC (17) takes it.
// Perm 0 is meant as 0; ReadWrite is the usual one.
type Topic struct {
	Name        string
	Read, Write int
	Perm        int
	// Attributes is +key=value, separated by commas.
	Attributes string
}

// ReadWrite is the permission of an ordinary topic.
const ReadWrite = 6

// CreateTopic sends t and returns the answer.
func (c *Conn) CreateTopic(tb testing.TB, t Topic) *Frame {
	tb.Helper()
	ext := map[string]string{
		"topic": t.Name, "defaultTopic": "TBW102", "readQueueNums": strconv.Itoa(t.Read),
		"writeQueueNums": strconv.Itoa(t.Write), "perm": strconv.Itoa(t.Perm),
		"topicFilterType": "SINGLE_TAG", "topicSysFlag": "0", "order": "false",
	}
	if t.Attributes != "" {
		ext["attributes"] = t.Attributes
	}
	return c.Call(tb, CreateTopic, ext, nil)
}

// MustCreateTopic makes a readable and writable topic of n queues.
func (c *Conn) MustCreateTopic(tb testing.TB, name string, n int) {
	tb.Helper()
	answer := c.CreateTopic(tb, Topic{Name: name, Read: n, Write: n, Perm: ReadWrite})
	if answer.Code != Success {
		tb.Fatalf("create topic %s: %v", name, answer)
	}
}

// Queue names a message queue in JSON bodies.
type Queue struct {
	BrokerName string `json:"brokerName"`
	QueueID    int    `json:"queueId"`
	Topic      string `json:"topic"`
}

// Member is a consumer as it presents itself in heartbeats.
type Member struct {
	ClientID, Group string
	// Subscriptions maps topics to expressions.
	Subscriptions map[string]string
	// ExpressionType is TAG when empty.
	ExpressionType string
}

// Heartbeat announces a push consumer (34).
func (c *Conn) Heartbeat(tb testing.TB, m Member) *Frame {
	tb.Helper()
	type subscription struct {
		Topic          string   `json:"topic"`
		SubString      string   `json:"subString"`
		TagsSet        []string `json:"tagsSet"`
		CodeSet        []int    `json:"codeSet"`
		SubVersion     int64    `json:"subVersion"`
		ExpressionType string   `json:"expressionType"`
	}
	subscriptions := []subscription{}
	if m.ExpressionType == "" {
		m.ExpressionType = "TAG"
	}
	for topic, expression := range m.Subscriptions {
		subscriptions = append(subscriptions, subscription{
			Topic: topic, SubString: expression, TagsSet: []string{}, CodeSet: []int{},
			SubVersion: time.Now().UnixMilli(), ExpressionType: m.ExpressionType,
		})
	}
	body := map[string]any{
		"clientID":        m.ClientID,
		"producerDataSet": []any{},
		"consumerDataSet": []any{map[string]any{
			"groupName": m.Group, "consumeType": "CONSUME_PASSIVELY", "messageModel": "CLUSTERING",
			"consumeFromWhere": "CONSUME_FROM_FIRST_OFFSET", "unitMode": false,
			"subscriptionDataSet": subscriptions,
		}},
	}
	answer := c.Call(tb, Heartbeat, nil, mustJSON(tb, body))
	if answer.Code != Success {
		tb.Fatalf("heartbeat of %s: %v", m.ClientID, answer)
	}
	return answer
}

// HeartbeatProducer announces a producer (34).
func (c *Conn) HeartbeatProducer(tb testing.TB, clientID, group string) {
	tb.Helper()
	body := map[string]any{
		"clientID": clientID, "consumerDataSet": []any{}, "producerDataSet": []any{map[string]any{"groupName": group}},
	}
	if answer := c.Call(tb, Heartbeat, nil, mustJSON(tb, body)); answer.Code != Success {
		tb.Fatalf("heartbeat of %s: %v", clientID, answer)
	}
}

// Introduce makes a group and its retry topic known to a broker and leaves the
// group again. The Go client asks for routes when it starts and then every
// 30 s: without this, a new group's first retry waits that long.
func Introduce(tb testing.TB, broker, group, topic string) {
	tb.Helper()
	c := Dial(tb, broker)
	defer c.Close()
	const guest = "guest"
	c.Heartbeat(tb, Member{ClientID: guest, Group: group, Subscriptions: map[string]string{topic: "*"}})
	answer := c.Call(tb, UnregisterClient, map[string]string{"clientID": guest, "consumerGroup": group}, nil)
	if answer.Code != Success {
		tb.Fatalf("unregister: %v", answer)
	}
}

// Commit stores a consumer offset (15).
func (c *Conn) Commit(tb testing.TB, group, topic string, queueID int, offset int64) *Frame {
	tb.Helper()
	return c.Call(tb, UpdateConsumerOffset, map[string]string{
		"consumerGroup": group, "topic": topic, "queueId": strconv.Itoa(queueID),
		"commitOffset": strconv.FormatInt(offset, 10),
	}, nil)
}

// QueryOffset asks for a consumer offset (14). extra adds header fields.
func (c *Conn) QueryOffset(tb testing.TB, group, topic string, queueID int, extra map[string]string) *Frame {
	tb.Helper()
	header := map[string]string{"consumerGroup": group, "topic": topic, "queueId": strconv.Itoa(queueID)}
	maps.Copy(header, extra)
	return c.Call(tb, QueryConsumerOffset, header, nil)
}

// Lock asks for queue locks (41) and returns the queues that clientID now holds.
func (c *Conn) Lock(tb testing.TB, group, clientID string, queues ...Queue) []Queue {
	tb.Helper()
	answer := c.Call(tb, LockBatchMQ, nil, lockBody(tb, group, clientID, queues))
	var body struct {
		Held []Queue `json:"lockOKMQSet"`
	}
	if err := json.Unmarshal(answer.Body, &body); err != nil || answer.Code != Success {
		tb.Fatalf("lock: %v, %v, body %q", answer, err, answer.Body)
	}
	return body.Held
}

// Unlock gives queue locks back (42).
func (c *Conn) Unlock(tb testing.TB, group, clientID string, queues ...Queue) *Frame {
	tb.Helper()
	return c.Call(tb, UnlockBatchMQ, nil, lockBody(tb, group, clientID, queues))
}

func lockBody(tb testing.TB, group, clientID string, queues []Queue) []byte {
	tb.Helper()
	return mustJSON(tb, map[string]any{"consumerGroup": group, "clientId": clientID, "mqSet": queues})
}

// ConsumerIDs lists the members of a group (38). An empty group is code 1.
func (c *Conn) ConsumerIDs(tb testing.TB, group string) ([]string, *Frame) {
	tb.Helper()
	answer := c.Call(tb, GetConsumerList, map[string]string{"consumerGroup": group}, nil)
	var body struct {
		IDs []string `json:"consumerIdList"`
	}
	if answer.Code == Success {
		if err := json.Unmarshal(answer.Body, &body); err != nil {
			tb.Fatalf("consumers of %s: %v, body %q", group, err, answer.Body)
		}
	}
	return body.IDs, answer
}

// SendBack asks for a redelivery (36) of the message at a CommitLog offset.
func (c *Conn) SendBack(tb testing.TB, group, topic string, offset int64, delayLevel int) *Frame {
	tb.Helper()
	return c.Call(tb, ConsumerSendMsgBack, map[string]string{
		"group": group, "offset": strconv.FormatInt(offset, 10), "delayLevel": strconv.Itoa(delayLevel),
		"originTopic": topic, "unitMode": "false", "maxReconsumeTimes": "16",
	}, nil)
}

// Route is the answer of a name server about a topic.
type Route struct {
	Queues []struct {
		BrokerName  string `json:"brokerName"`
		ReadQueues  int    `json:"readQueueNums"`
		WriteQueues int    `json:"writeQueueNums"`
		Perm        int    `json:"perm"`
	} `json:"queueDatas"`
	Brokers []struct {
		Cluster    string            `json:"cluster"`
		BrokerName string            `json:"brokerName"`
		Addrs      map[string]string `json:"brokerAddrs"`
	} `json:"brokerDatas"`
}

// Route asks a name server for a topic's route (105).
func (c *Conn) Route(tb testing.TB, topic string) (Route, *Frame) {
	tb.Helper()
	answer := c.Call(tb, GetRouteByTopic, map[string]string{"topic": topic, "acceptStandardJsonOnly": "true"}, nil)
	var route Route
	if answer.Code == Success {
		if err := json.Unmarshal(answer.Body, &route); err != nil {
			tb.Fatalf("route of %s: %v, body %q", topic, err, answer.Body)
		}
	}
	return route, answer
}

// Int64 reads a field of the answer that must be a number.
func (f *Frame) Int64(tb testing.TB, name string) int64 {
	tb.Helper()
	n, err := strconv.ParseInt(f.Ext[name], 10, 64)
	if err != nil {
		tb.Fatalf("field %s: %v in %v", name, err, f)
	}
	return n
}

// Int is Int64 for small numbers.
func (f *Frame) Int(tb testing.TB, name string) int {
	tb.Helper()
	return int(f.Int64(tb, name))
}

func mustJSON(tb testing.TB, v any) []byte {
	tb.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(fmt.Errorf("wire: body: %w", err))
	}
	return b
}
