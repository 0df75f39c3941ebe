package broker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"

	"github.com/wheelmq/wheelmq/broker/client"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

// pullCommit and pullSuspend are bits of a pull's sysFlag.
const pullCommit, pullSuspend = 1, 2

// member is a client of a consumer group: its connection, and what it has taken in of each queue.
type member struct {
	l        *lab
	id       uint64
	clientID string
	group    string
	language remoting.Language
	silent   bool // never says how far it is

	holds atomic.Int64 // messages, as it says when it is asked

	mu      sync.Mutex // guards what follows
	opaque  int32
	waiting map[int32]chan *remoting.Command
	taken   map[string]int64 // messages that it holds, by queue
	done    map[string]int64 // offset below which it has finished, by queue
	gone    chan struct{}
	wg      sync.WaitGroup
}

// join brings a member online, a Java client.
func (l *lab) join(group, consumeType, model, expression string, topics ...string) *member {
	l.t.Helper()
	return l.joinAs(remoting.LanguageJava, group, consumeType, model, expression, topics...)
}

func (l *lab) joinAs(language remoting.Language, group, consumeType, model, expression string, topics ...string) *member {
	l.t.Helper()
	return l.joinBy(language, group, consumeType, model, "TAG", expression, topics...)
}

func (l *lab) joinBy(language remoting.Language, group, consumeType, model, expressionType, expression string, topics ...string) *member {
	l.t.Helper()
	m := &member{
		l: l, id: 1<<40 + l.conns.Add(1), group: group, language: language, waiting: make(map[int32]chan *remoting.Command),
		taken: make(map[string]int64), done: make(map[string]int64), gone: make(chan struct{}),
	}
	m.clientID = fmt.Sprintf("client-%d", m.id&0xffff)
	data := remoting.ConsumerData{GroupName: group, ConsumeType: consumeType, MessageModel: model, ConsumeFromWhere: "CONSUME_FROM_FIRST_OFFSET"}
	for _, topic := range topics {
		data.SubscriptionDataSet = append(data.SubscriptionDataSet, remoting.SubscriptionData{Topic: topic, SubString: expression, SubVersion: 1, ExpressionType: expressionType})
	}
	body, err := json.Marshal(remoting.HeartbeatData{ClientID: m.clientID, ConsumerDataSet: []remoting.ConsumerData{data}})
	if err != nil {
		l.t.Fatal(err)
	}
	if reply := m.do(remoting.HeartBeat, &remoting.ExtWriter{}, body); reply == nil || reply.Code != remoting.Success {
		l.t.Fatalf("heartbeat: %+v", reply)
	}
	return m
}

// leave ends the connection.
func (m *member) leave() {
	close(m.gone)
	m.l.broker.ConnClosed(m)
	m.wg.Wait()
}

// do sends a request; nil when the connection ended before the answer.
func (m *member) do(code int32, ext *remoting.ExtWriter, body []byte) *remoting.Command {
	m.mu.Lock()
	m.opaque++
	opaque, answer := m.opaque, make(chan *remoting.Command, 1)
	m.waiting[opaque] = answer
	m.mu.Unlock()
	m.l.serve(m, m.language, code, opaque, ext, body)
	select {
	case reply := <-answer:
		return reply
	case <-m.gone:
		return nil
	}
}

// consume pulls a queue like a push consumer, and takes in what comes. It has finished with it
// when finish says so.
func (m *member) consume(topic string, queueID int32, from int64) {
	m.wg.Go(func() {
		queue := place(topic, queueID)
		m.mu.Lock()
		m.done[queue] = from
		m.mu.Unlock()
		for offset := from; ; {
			m.mu.Lock()
			commit := m.done[queue]
			m.mu.Unlock()
			reply := m.pull(topic, queueID, offset, commit)
			if reply == nil {
				return
			}
			var head remoting.PullMessageResponse
			if err := head.Decode(&reply.Ext); err != nil {
				panic(err)
			}
			m.mu.Lock()
			if reply.Code == remoting.Success {
				m.taken[queue] += count(reply.Body)
			} else if m.taken[queue] == 0 && !m.silent {
				m.done[queue] = head.NextBeginOffset
			}
			m.mu.Unlock()
			offset = head.NextBeginOffset
		}
	})
}

func (m *member) pull(topic string, queueID int32, offset, commit int64) *remoting.Command {
	req := remoting.PullMessageRequest{
		ConsumerGroup: []byte(m.group), Topic: []byte(topic), QueueID: queueID, QueueOffset: offset, MaxMsgNums: 32,
		SysFlag: pullSuspend, SuspendTimeoutMillis: 20_000,
	}
	if commit > 0 {
		req.SysFlag, req.CommitOffset = req.SysFlag|pullCommit, commit
	}
	var ext remoting.ExtWriter
	req.Encode(&ext)
	return m.do(remoting.PullMessage, &ext, nil)
}

// pop pops so many messages of a topic, and returns the instant in their handles.
func (m *member) pop(topic string, n int32) (popTime int64) {
	req := remoting.PopMessageRequest{ConsumerGroup: []byte(m.group), Topic: []byte(topic), QueueID: -1, MaxMsgNums: n, InvisibleTime: 60_000}
	var ext remoting.ExtWriter
	req.Encode(&ext)
	reply := m.do(remoting.PopMessage, &ext, nil)
	var head remoting.PopMessageResponse
	if err := head.Decode(&reply.Ext); err != nil || count(reply.Body) != int64(n) {
		m.l.t.Fatalf("%d messages, %v: %+v", count(reply.Body), err, reply)
	}
	return head.PopTime
}

// ack acknowledges a message of queue 0 of a stored topic.
func (m *member) ack(topic string, offset, popTime int64) {
	req := remoting.AckMessageRequest{ConsumerGroup: []byte(m.group), Topic: []byte(topic), Offset: offset, ExtraInfo: handle(popTime, offset)}
	var ext remoting.ExtWriter
	req.Encode(&ext)
	if reply := m.do(remoting.AckMessage, &ext, nil); reply.Code != remoting.Success {
		m.l.t.Fatalf("ack: %+v", reply)
	}
}

// putOff has a message of queue 0 come back after a while.
func (m *member) putOff(topic string, offset, popTime, invisibleMs int64) {
	req := remoting.ChangeInvisibleTimeRequest{
		ConsumerGroup: []byte(m.group), Topic: []byte(topic), Offset: offset, ExtraInfo: handle(popTime, offset), InvisibleTime: invisibleMs,
	}
	var ext remoting.ExtWriter
	req.Encode(&ext)
	if reply := m.do(remoting.ChangeMessageInvisibleTime, &ext, nil); reply.Code != remoting.Success {
		m.l.t.Fatalf("change: %+v", reply)
	}
}

func handle(popTime, offset int64) []byte {
	return fmt.Appendf(nil, "0 %d 60000 1 0 broker-a 0 %d", popTime, offset)
}

// finish ends the work on everything below an offset.
func (m *member) finish(topic string, queueID int32, below int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.taken[place(topic, queueID)] -= below - m.done[place(topic, queueID)]
	m.done[place(topic, queueID)] = below
}

func (m *member) took(topic string, queueID int32) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.taken[place(topic, queueID)]
}

func place(topic string, queueID int32) string { return fmt.Sprintf("%s-%d", topic, queueID) }

func count(body []byte) (n int64) {
	for len(body) > 0 {
		v, err := message.Parse(body)
		if err != nil {
			panic(err)
		}
		body = body[v.Size:]
		n++
	}
	return n
}

// Call answers GET_CONSUMER_RUNNING_INFO as the Java client does: with objects as keys.
func (m *member) Call(_ context.Context, code int32, _ *remoting.ExtWriter, _ []byte) (*remoting.Command, error) {
	if code != remoting.GetConsumerRunningInfo {
		return nil, fmt.Errorf("code %d", code)
	}
	body := fmt.Sprintf(`{"mqTable":{{"brokerName":"other","queueId":0,"topic":"T"}:{"cachedMsgCount":7},`+
		`{"brokerName":%q,"queueId":0,"topic":"T"}:{"cachedMsgCount":%d,"droped":false,"transactionMsgCount":0}}}`, m.l.config.BrokerName, m.holds.Load())
	return &remoting.Command{Code: remoting.Success, Body: []byte(body)}, nil
}

func (m *member) ID() uint64                 { return m.id }
func (m *member) RemoteAddr() netip.AddrPort { return netip.MustParseAddrPort("127.0.0.1:4000") }
func (m *member) LocalAddr() netip.AddrPort  { return netip.MustParseAddrPort("127.0.0.1:10911") }
func (m *member) Close(string)               {}

func (m *member) Closed() bool {
	select {
	case <-m.gone:
		return true
	default:
		return false
	}
}

func (m *member) Send(frame []byte) error { return m.SendParts(frame, nil, nil) }

func (m *member) SendParts(head []byte, parts [][]byte, release func()) error {
	reply, err := received(head, parts, release)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if answer := m.waiting[reply.Opaque]; answer != nil && reply.IsResponse() {
		delete(m.waiting, reply.Opaque)
		answer <- reply
	}
	return nil
}

// passively joins a group that divides its queues and has everything pushed.
func (l *lab) passively(group string, topics ...string) *member {
	return l.join(group, client.ConsumePassively, client.Clustering, "*", topics...)
}
