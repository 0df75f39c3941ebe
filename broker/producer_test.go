package broker_test

import (
	"encoding/json"
	"net/netip"
	"strconv"
	"sync"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

// producer is a client of a producer group that notes what it is asked.
type producer struct {
	l     *lab
	id    uint64
	group string

	mu     sync.Mutex // guards what follows
	asked  []question
	closed bool
	answer chan *remoting.Command
}

// question is a CHECK_TRANSACTION_STATE, and when it came.
type question struct {
	at     int64 // ms of message time
	header remoting.CheckTransactionStateRequest
	topic  string
	queue  int32
	times  int // TRANSACTION_CHECK_TIMES
	body   string
}

// half is a half message as its producer knows it.
type half struct {
	queueOffset, commitLogOffset int64
	key                          string
}

// produce brings a producer online.
func (l *lab) produce(group string) *producer {
	l.t.Helper()
	p := &producer{l: l, id: 1<<41 + l.conns.Add(1), group: group, answer: make(chan *remoting.Command, 1)}
	body, err := json.Marshal(remoting.HeartbeatData{
		ClientID: "producer-" + strconv.FormatUint(p.id, 10), ProducerDataSet: []remoting.ProducerData{{GroupName: group}},
	})
	if err != nil {
		l.t.Fatal(err)
	}
	if reply := p.do(remoting.HeartBeat, &remoting.ExtWriter{}, body); reply.Code != remoting.Success {
		l.t.Fatalf("heartbeat: %+v", reply)
	}
	return p
}

// do sends a request and returns the answer.
func (p *producer) do(code int32, ext *remoting.ExtWriter, body []byte) *remoting.Command {
	p.l.serve(p, remoting.LanguageJava, code, 1, ext, body)
	return <-p.answer
}

// prepare sends a half message; properties are names and values.
func (p *producer) prepare(topic, key string, properties ...string) half {
	p.l.t.Helper()
	reply := p.trySend(topic, key, properties...)
	if reply.Code != remoting.Success {
		p.l.t.Fatalf("send %s: code %d: %s", key, reply.Code, reply.Remark)
	}
	return p.sent(reply, key)
}

// sent is the half message that an answer to a send tells of.
func (p *producer) sent(reply *remoting.Command, key string) half {
	p.l.t.Helper()
	var res remoting.SendMessageResponse
	if err := res.Decode(&reply.Ext); err != nil {
		p.l.t.Fatal(err)
	}
	_, at, err := message.ParseOffsetID(res.MsgID)
	if err != nil {
		p.l.t.Fatal(err)
	}
	return half{queueOffset: res.QueueOffset, commitLogOffset: at, key: key}
}

func (p *producer) trySend(topic, key string, properties ...string) *remoting.Command {
	p.l.t.Helper()
	props := message.PropertyAppend(nil, message.PropertyTransactionPrepared, "true")
	props = message.PropertyAppend(props, message.PropertyProducerGroup, p.group)
	props = message.PropertyAppend(props, message.PropertyUniqKey, key)
	for i := 0; i < len(properties); i += 2 {
		props = message.PropertyAppend(props, properties[i], properties[i+1])
	}
	var ext remoting.ExtWriter
	req := remoting.SendMessageRequest{
		ProducerGroup: []byte(p.group), Topic: []byte(topic), DefaultTopic: []byte(message.TopicAutoCreate), DefaultTopicQueueNums: 1,
		SysFlag: message.SysFlagPrepared, BornTimestamp: p.l.broker.NowMillis(), Properties: props,
	}
	req.EncodeV2(&ext)
	return p.do(remoting.SendMessageV2, &ext, []byte(key))
}

// end commits or rolls back, as an answer to a check or not.
func (p *producer) end(h half, how int32, checked bool) *remoting.Command {
	var ext remoting.ExtWriter
	req := remoting.EndTransactionRequest{
		ProducerGroup: p.group, TranStateTableOffset: h.queueOffset, CommitLogOffset: h.commitLogOffset, CommitOrRollback: how,
		FromTransactionCheck: checked, MsgID: h.key, TransactionID: h.key,
	}
	req.Encode(&ext)
	return p.do(remoting.EndTransaction, &ext, nil)
}

func (p *producer) commit(h half) {
	p.l.t.Helper()
	if reply := p.end(h, message.SysFlagCommit, false); reply.Code != remoting.Success {
		p.l.t.Fatalf("commit %s: code %d: %s", h.key, reply.Code, reply.Remark)
	}
}

func (p *producer) rollback(h half) {
	p.l.t.Helper()
	if reply := p.end(h, message.SysFlagRollback, false); reply.Code != remoting.Success {
		p.l.t.Fatalf("roll back %s: code %d: %s", h.key, reply.Code, reply.Remark)
	}
}

// questions returns and forgets what it was asked.
func (p *producer) questions() []question {
	p.mu.Lock()
	defer p.mu.Unlock()
	asked := p.asked
	p.asked = nil
	return asked
}

// leave ends the connection.
func (p *producer) leave() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.l.broker.ConnClosed(p)
}

func (p *producer) ID() uint64                 { return p.id }
func (p *producer) RemoteAddr() netip.AddrPort { return netip.MustParseAddrPort("127.0.0.1:4000") }
func (p *producer) LocalAddr() netip.AddrPort  { return netip.MustParseAddrPort("127.0.0.1:10911") }
func (p *producer) Close(string)               {}

func (p *producer) Closed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

func (p *producer) Send(frame []byte) error { return p.SendParts(frame, nil, nil) }

func (p *producer) SendParts(head []byte, parts [][]byte, release func()) error {
	cmd, err := received(head, parts, release)
	if err != nil {
		return err
	}
	if cmd.IsResponse() {
		p.answer <- cmd
		return nil
	}
	if cmd.Code != remoting.CheckTransactionState {
		return nil
	}
	q := question{at: p.l.broker.NowMillis()}
	if err := q.header.Decode(&cmd.Ext); err != nil {
		return err
	}
	v, err := message.ParseVerify(cmd.Body)
	if err != nil {
		return err
	}
	times, _ := message.PropertyGet(v.Properties, message.PropertyCheckTimes)
	q.times, err = strconv.Atoi(string(times))
	q.topic, q.queue, q.body = string(v.Topic), v.QueueID, string(v.Body)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, q)
	return err
}
