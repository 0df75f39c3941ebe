package broker_test

import (
	"encoding/json"
	"net/netip"
	"slices"
	"sync/atomic"

	"github.com/wheelmq/wheelmq/broker/client"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

// What clients of RocketMQ do by themselves, ms (Java client 5.5.0, rocketmq-client-go).
const (
	beatEvery      = 30_000
	renewEvery     = 20_000
	rebalanceEvery = 20_000
	localLockMs    = 30_000 // a client takes a lock for lost that it has not renewed for so long
)

// wireConn is a connection without a socket: what it is sent arrives at once.
type wireConn struct {
	id       uint64
	closed   atomic.Bool
	notified atomic.Bool // the broker told that the group has changed
	answer   *remoting.Command
}

func (c *wireConn) ID() uint64                 { return c.id }
func (c *wireConn) RemoteAddr() netip.AddrPort { return netip.MustParseAddrPort("127.0.0.1:4000") }
func (c *wireConn) LocalAddr() netip.AddrPort  { return netip.MustParseAddrPort("127.0.0.1:10911") }
func (c *wireConn) Close(string)               { c.closed.Store(true) }
func (c *wireConn) Closed() bool               { return c.closed.Load() }
func (c *wireConn) Send(frame []byte) error    { return c.SendParts(frame, nil, nil) }

func (c *wireConn) SendParts(head []byte, parts [][]byte, release func()) error {
	cmd, err := received(head, parts, release)
	if err != nil {
		return err
	}
	if cmd.IsResponse() {
		c.answer = cmd
	} else if cmd.Code == remoting.NotifyConsumerIDsChanged {
		c.notified.Store(true)
	}
	return nil
}

// held is a queue that an orderly consumer has locked.
type held struct {
	lockedAt int64   // when the broker last said so, ms
	next     int64   // offset to pull from
	done     int64   // offset below which it has consumed
	inHand   []int64 // offsets that it was given and has not consumed
}

// orderly is a consumer of a group that consumes its queues in order, as the Java client does it.
type orderly struct {
	m      *sharing
	id     string
	conn   *wireConn // nil while it is cut off
	frozen bool      // the process does nothing
	late   bool      // divides the queues before it hears what became of its locks, once

	lastBeat, lastRenew, lastRebalance int64
	holds                              map[int32]*held
}

func (o *orderly) connect() {
	o.conn = &wireConn{id: 1<<40 + o.m.conns.Add(1)}
	o.beat()
	o.conn.notified.Store(true)
}

// do sends a request and returns the answer.
func (o *orderly) do(code int32, ext *remoting.ExtWriter, body []byte) *remoting.Command {
	o.m.t.Helper()
	o.m.serve(o.conn, remoting.LanguageJava, code, 1, ext, body)
	return o.conn.answer
}

func (o *orderly) must(code int32, ext *remoting.ExtWriter, body any) *remoting.Command {
	o.m.t.Helper()
	var b []byte
	if body != nil {
		var err error
		if b, err = json.Marshal(body); err != nil {
			o.m.t.Fatal(err)
		}
	}
	reply := o.do(code, ext, b)
	if reply.Code != remoting.Success {
		o.m.t.Fatalf("%s, request %d: code %d: %s", o.id, code, reply.Code, reply.Remark)
	}
	return reply
}

func (o *orderly) beat() {
	o.lastBeat = o.m.now()
	o.must(remoting.HeartBeat, &remoting.ExtWriter{}, remoting.HeartbeatData{ClientID: o.id, ConsumerDataSet: []remoting.ConsumerData{{
		GroupName: o.m.group, ConsumeType: client.ConsumePassively, MessageModel: client.Clustering, ConsumeFromWhere: "CONSUME_FROM_FIRST_OFFSET",
		SubscriptionDataSet: []remoting.SubscriptionData{{Topic: o.m.topic, SubString: "*", SubVersion: 1, ExpressionType: "TAG"}},
	}}})
}

// duties are what the client does by itself, when their time has come.
func (o *orderly) duties() {
	if o.frozen || o.conn == nil {
		return
	}
	now := o.m.now()
	if now-o.lastBeat >= beatEvery {
		o.beat()
	}
	if now-o.lastRenew >= renewEvery && !o.late {
		o.renew()
	}
	o.late = false
	if o.conn.notified.Swap(false) || now-o.lastRebalance >= rebalanceEvery {
		o.rebalance()
	}
}

func (o *orderly) lock(queues []int32) []int32 {
	reply := o.must(remoting.LockBatchMQ, &remoting.ExtWriter{}, o.lockBody(queues))
	var granted remoting.LockBatchResponseBody
	if err := json.Unmarshal(reply.Body, &granted); err != nil {
		o.m.t.Fatal(err)
	}
	var ids []int32
	for _, mq := range granted.LockOKMQSet {
		ids = append(ids, mq.QueueID)
	}
	return ids
}

func (o *orderly) lockBody(queues []int32) remoting.LockBatchBody {
	body := remoting.LockBatchBody{ConsumerGroup: o.m.group, ClientID: o.id}
	for _, id := range queues {
		body.MQSet = append(body.MQSet, remoting.MessageQueue{Topic: o.m.topic, BrokerName: o.m.config.BrokerName, QueueID: id})
	}
	return body
}

// renew prolongs the locks; what the broker gave to another is let go of.
func (o *orderly) renew() {
	o.lastRenew = o.m.now()
	mine := o.queues()
	if len(mine) == 0 {
		return
	}
	granted := o.lock(mine)
	for _, id := range mine {
		if slices.Contains(granted, id) {
			o.holds[id].lockedAt = o.m.now()
		} else {
			delete(o.holds, id)
		}
	}
}

func (o *orderly) queues() []int32 {
	var ids []int32
	for id := range o.holds {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// rebalance divides the queues evenly by the order of client ids, as AllocateMessageQueueAveragely
// does, gives back what is another's, and locks what is its own.
func (o *orderly) rebalance() {
	o.lastRebalance = o.m.now()
	var ext remoting.ExtWriter
	list := remoting.GetConsumerListByGroupRequest{ConsumerGroup: o.m.group}
	list.Encode(&ext)
	var members remoting.ConsumerListBody
	if err := json.Unmarshal(o.must(remoting.GetConsumerListByGroup, &ext, nil).Body, &members); err != nil {
		o.m.t.Fatal(err)
	}
	slices.Sort(members.ConsumerIDList)
	own := allocate(o.m.queueCount(), len(members.ConsumerIDList), slices.Index(members.ConsumerIDList, o.id))
	for _, id := range o.queues() {
		if !slices.Contains(own, id) {
			o.giveBack(id)
		}
	}
	var wanted []int32
	for _, id := range own {
		if o.holds[id] == nil {
			wanted = append(wanted, id)
		}
	}
	if len(wanted) == 0 {
		return
	}
	for _, id := range o.lock(wanted) {
		from := o.committed(id)
		o.holds[id] = &held{lockedAt: o.m.now(), next: from, done: from}
	}
}

// allocate is the share of one of n members; index -1 gets nothing.
func allocate(queues, n, index int) (share []int32) {
	for id := range queues {
		if index >= 0 && owner(queues, n, id) == index {
			share = append(share, int32(id))
		}
	}
	return share
}

// owner is which of n members gets a queue: the first queues%n have one more than the rest.
func owner(queues, n, id int) int {
	size, more := queues/n, queues%n
	if id < more*(size+1) {
		return id / (size + 1)
	}
	return more + (id-more*(size+1))/max(size, 1)
}

func (o *orderly) giveBack(id int32) {
	o.commit(id)
	o.must(remoting.UnlockBatchMQ, &remoting.ExtWriter{}, o.lockBody([]int32{id}))
	delete(o.holds, id)
}

func (o *orderly) commit(id int32) {
	var ext remoting.ExtWriter
	req := remoting.UpdateConsumerOffsetRequest{
		ConsumerGroup: []byte(o.m.group), Topic: []byte(o.m.topic), QueueID: id, CommitOffset: o.holds[id].done,
	}
	req.Encode(&ext)
	o.must(remoting.UpdateConsumerOffset, &ext, nil)
}

func (o *orderly) committed(id int32) int64 {
	var ext remoting.ExtWriter
	req := remoting.QueryConsumerOffsetRequest{ConsumerGroup: []byte(o.m.group), Topic: []byte(o.m.topic), QueueID: id, SetZeroIfNotFound: true}
	req.Encode(&ext)
	reply := o.do(remoting.QueryConsumerOffset, &ext, nil)
	var head remoting.QueryConsumerOffsetResponse
	if reply.Code != remoting.Success {
		return 0
	}
	if err := head.Decode(&reply.Ext); err != nil {
		o.m.t.Fatal(err)
	}
	return head.Offset
}

// owns tells whether the client believes that a queue is its own.
func (o *orderly) owns(id int32) bool {
	h := o.holds[id]
	return h != nil && o.m.now()-h.lockedAt < localLockMs
}

// work pulls a queue, or consumes the next message that it was given.
func (o *orderly) work(id int32) {
	h := o.holds[id]
	if h == nil || o.frozen || !o.owns(id) {
		return
	}
	if len(h.inHand) > 0 {
		o.m.consumed(o, id, h.inHand[0])
		h.done, h.inHand = h.inHand[0]+1, h.inHand[1:]
		return
	}
	if o.conn == nil {
		return
	}
	var ext remoting.ExtWriter
	req := remoting.PullMessageRequest{
		ConsumerGroup: []byte(o.m.group), Topic: []byte(o.m.topic), QueueID: id, QueueOffset: h.next, MaxMsgNums: 4,
		SubVersion: 1, ExpressionType: []byte("TAG"),
	}
	req.Encode(&ext)
	reply := o.do(remoting.PullMessage, &ext, nil)
	var head remoting.PullMessageResponse
	if err := head.Decode(&reply.Ext); err != nil {
		o.m.t.Fatal(err)
	}
	for body := reply.Body; len(body) > 0; {
		v, err := message.Parse(body)
		if err != nil {
			o.m.t.Fatal(err)
		}
		h.inHand = append(h.inHand, v.QueueOffset)
		body = body[v.Size:]
	}
	h.next = head.NextBeginOffset
}
