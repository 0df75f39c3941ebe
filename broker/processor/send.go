package processor

import (
	"math/rand/v2"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/broker/stats"
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/store"
)

type (
	messageAppender interface {
		Put(rec *message.Record, origin appender.Origin, done store.Completion) (store.PutResult, bool, error)
		PutBatch(recs []message.Record, origin appender.Origin, done store.Completion) (store.PutResult, bool, error)
	}
	topicCreator interface {
		Get(name []byte) *topic.Config
		CreateOnSend(name, defaultTopic string, queueNums, sysFlag int32) (*topic.Config, error)
		CreateRetry(name string, queueNums, perm int32) *topic.Config
	}
	lockHolder interface {
		AnyHeld(group string) bool
	}
)

// SendOptions are what sends need.
type SendOptions struct {
	Topics      topicCreator
	Groups      groupFinder
	Locks       lockHolder
	Appender    messageAppender
	Stats       *stats.Service
	Store       clock.Clock
	Wire        clock.Clock // of how long puts take; nil: nobody asks
	Differences *difference.Set

	// Writable tells whether brokerPermission has the write bit; nil is yes. As on the real
	// broker only ordered topics are refused without it: routes keep clients from the rest.
	Writable func() bool

	StoreHost netip.AddrPort // the broker's address, part of every message id
	Region    string         // regionId
	Cluster   string         // brokerClusterName
	Broker    string         // brokerName, part of recall handles
	TraceOn   bool
	SyncFlush bool // flushDiskType=SYNC_FLUSH: replies wait for the group commit
	// MaxMessageSize is maxMessageSize, bytes; it bounds a batch as a whole.
	MaxMessageSize int
	// Prepared counts a half message that was stored for a topic.
	Prepared func(topic []byte)
	// RejectTransactions tells rejectTransactionMessage; nil is false.
	RejectTransactions func() bool
	// Requesters hears where replies are waited for; may be nil.
	Requesters interface {
		Requested(conn remoting.Conn, clientID []byte)
	}
	// AnyTime tells whether properties ask for an any-time delay.
	AnyTime interface{ Asked(props []byte) bool }
}

// Send serves SEND_MESSAGE (10), SEND_MESSAGE_V2 (310) and SEND_BATCH_MESSAGE (320).
//
// It runs on the event loop and allocates nothing for a message to a known topic. Light queues are
// refused.
type Send struct {
	opts   SendOptions
	states sync.Pool
	texts  atomic.Pointer[sendTexts]
	most   atomic.Int64 // of a batch, bytes
	// waiting are the counters of the topics in which delayed messages wait.
	waiting struct{ schedule, timer *stats.Topic }
}

// sendTexts are what is the same for every message, as long as traceOn is.
type sendTexts struct {
	traced bool
	head   remoting.ExtWriter // the fields that every reply begins with
	own    []byte             // the properties that every stored message gets
}

// NewSend returns the family.
func NewSend(opts SendOptions) *Send {
	s := &Send{opts: opts}
	s.TraceOn(opts.TraceOn)
	s.LimitBodies(opts.MaxMessageSize)
	s.waiting.schedule = opts.Stats.TopicCounters([]byte(message.TopicSchedule))
	s.waiting.timer = opts.Stats.TopicCounters([]byte(message.TopicTimer))
	s.states.New = func() any { return &sendState{send: s} }
	return s
}

// LimitBodies changes how large batches may be that come from now on, bytes (maxMessageSize).
func (s *Send) LimitBodies(bytes int) { s.most.Store(int64(bytes)) }

// TraceOn changes whether clients are told to trace the messages that come from now on (traceOn).
func (s *Send) TraceOn(on bool) {
	t := &sendTexts{traced: on}
	t.head.String("MSG_REGION", s.opts.Region)
	t.head.Bool("TRACE_ON", on)
	t.own = message.PropertyAppend(t.own, message.PropertyMsgRegion, s.opts.Region)
	t.own = message.PropertyAppend(t.own, message.PropertyTraceOn, strconv.FormatBool(on))
	t.own = message.PropertyAppend(t.own, message.PropertyCluster, s.opts.Cluster)
	s.texts.Store(t)
}

// Routes returns the table rows.
func (s *Send) Routes() []remoting.Route {
	const test = "broker/processor/send_test.go"
	return []remoting.Route{
		{Code: remoting.SendMessage, Handler: s.send, Since: "3.0", Test: test},
		{Code: remoting.SendMessageV2, Handler: s.send, Since: "3.2", Test: test},
		{Code: remoting.SendBatchMessage, Handler: s.send, Since: "4.0", Test: test},
	}
}

// sendState is the scratch of one send. It is the completion of a put that waits.
type sendState struct {
	send    *Send
	header  remoting.SendMessageRequest
	rec     message.Record
	recs    []message.Record // of a batch
	props   []byte
	uniqKey []byte
	id      []byte
	handle  []byte
	found   foundProperties

	config   *topic.Config
	counters *stats.Topic // of config
	queueID  int32
	count    int64
	started  int64 // ms of the wire
	pending  *remoting.Pending
}

func (s *Send) send(ex *remoting.Exchange) error {
	ex.Reply.Ext.Fields(&s.texts.Load().head)
	st := s.states.Get().(*sendState)
	waits, err := s.handle(ex, st)
	if err != nil {
		s.opts.Stats.PutFailed()
	}
	if !waits {
		s.states.Put(st)
	}
	return err
}

// handle stores the message; waits means that st answers later.
func (s *Send) handle(ex *remoting.Exchange, st *sendState) (waits bool, err error) {
	h := &st.header
	if st.started = ex.ReceivedMs(); st.started == 0 && s.opts.Wire != nil {
		st.started = s.opts.Wire.NowMillis()
	}
	if err := h.Decode(&ex.Req.Ext); err != nil {
		return false, err
	}
	config, err := s.target(h, ex.Conn.RemoteAddr())
	if err != nil {
		return false, err
	}
	if len(ex.Req.Body) == 0 {
		s.opts.Differences.Use(difference.EmptyBodyIllegal)
		return false, remoting.Errorf(remoting.MessageIllegal, "the message is illegal: its body is empty")
	}
	st.queueID = h.QueueID
	if h.QueueID < 0 {
		st.queueID = rand.Int32N(max(1, config.WriteQueueNums))
	}
	// A topic that was changed or made again has another config.
	if st.config != config {
		st.config, st.counters = config, s.opts.Stats.TopicCounters([]byte(config.TopicName))
	}
	if h.Batch || ex.Req.Code == remoting.SendBatchMessage {
		return s.putBatch(ex, st, config)
	}
	return s.putSingle(ex, st, config)
}

// target checks and finds the topic of a send, in the real broker's order.
func (s *Send) target(h *remoting.SendMessageRequest, producer netip.AddrPort) (*topic.Config, error) {
	config := s.opts.Topics.Get(h.Topic)
	if config == nil {
		if err := topic.ValidateName(string(h.Topic)); err != nil {
			return nil, err
		}
	}
	if config != nil && config.Order && s.opts.Writable != nil && !s.opts.Writable() {
		return nil, remoting.Errorf(remoting.NoPermission, "the broker[%s] sending message is forbidden", s.opts.StoreHost)
	}
	if topic.Rule(h.Topic).NoSend {
		if string(h.Topic) == message.TopicTimer {
			s.opts.Differences.Use(difference.TimerTopicClosed)
		}
		return nil, remoting.Errorf(remoting.NoPermission, "Sending message to topic[%s] is forbidden.", h.Topic)
	}
	if config == nil {
		var err error
		if config, err = s.create(h); err != nil {
			return nil, err
		}
	}
	if queues := max(config.WriteQueueNums, config.ReadQueueNums); h.QueueID >= queues {
		return nil, remoting.Errorf(remoting.InvalidParameter, "request queueId[%d] is illegal, %s Producer: %s",
			h.QueueID, topic.Format(config), producer)
	}
	return config, nil
}

func (s *Send) create(h *remoting.SendMessageRequest) (*topic.Config, error) {
	name := string(h.Topic)
	config, err := s.opts.Topics.CreateOnSend(name, string(h.DefaultTopic), h.DefaultTopicQueueNums, 0)
	if err != nil {
		return nil, err
	}
	if config == nil {
		if _, retry := retryGroup(h.Topic); retry {
			config = s.opts.Topics.CreateRetry(name, 1, topic.PermRead|topic.PermWrite)
		}
	}
	if config == nil {
		return nil, remoting.Errorf(remoting.TopicNotExist, "topic[%s] not exist, apply first please!%s", h.Topic, faq)
	}
	return config, nil
}

// retryGroup is the group of a %RETRY% topic.
func retryGroup(name []byte) (group []byte, ok bool) {
	const prefix = message.PrefixRetry
	if len(name) <= len(prefix) || string(name[:len(prefix)]) != prefix {
		return nil, false
	}
	return name[len(prefix):], true
}

func (s *Send) putSingle(ex *remoting.Exchange, st *sendState, config *topic.Config) (bool, error) {
	h := &st.header
	rec := &st.rec
	rec.Topic, rec.QueueID, rec.Flag, rec.SysFlag = config.TopicName, st.queueID, h.Flag, h.SysFlag
	rec.BornTimestamp, rec.BornHost, rec.StoreHost = h.BornTimestamp, ex.Conn.RemoteAddr(), s.opts.StoreHost
	rec.ReconsumeTimes, rec.Body = h.ReconsumeTimes, ex.Req.Body
	if err := s.properties(st); err != nil {
		return false, err
	}
	if group, retry := retryGroup(h.Topic); retry {
		if err := s.retry(st, group); err != nil {
			return false, err
		}
	}
	if err := s.transaction(st); err != nil {
		return false, err
	}
	st.count = 1
	if st.found.replyTo != nil && s.opts.Requesters != nil {
		s.opts.Requesters.Requested(ex.Conn, st.found.replyTo)
	}
	if s.opts.SyncFlush && !st.found.noWait {
		return s.putWaiting(ex, st, func() (store.PutResult, bool, error) {
			return s.opts.Appender.Put(&st.rec, appender.FromClient, st)
		}), nil
	}
	res, _, err := s.opts.Appender.Put(&st.rec, appender.FromClient, nil)
	if err != nil {
		return false, err
	}
	st.reply(&ex.Reply, res)
	return false, nil
}

// putWaiting runs a put whose reply waits for durability. The completion may run before put
// returns, so the reply is deferred first.
func (s *Send) putWaiting(ex *remoting.Exchange, st *sendState, put func() (store.PutResult, bool, error)) (waits bool) {
	p := ex.Defer()
	p.Reply.Ext.Fields(&s.texts.Load().head)
	st.pending = p
	res, pending, err := put()
	if pending {
		return true
	}
	st.pending = nil
	if err != nil {
		s.opts.Stats.PutFailed()
		fail(&p.Reply, err)
	} else {
		st.reply(&p.Reply, res)
	}
	p.Send()
	return false
}

// PutDone implements store.Completion.
func (st *sendState) PutDone(res store.PutResult) {
	p := st.pending
	st.pending = nil
	if err := appender.Refusal(res); err != nil {
		st.send.opts.Stats.PutFailed()
		fail(&p.Reply, err)
	} else {
		st.reply(&p.Reply, res)
	}
	p.Send()
	st.send.states.Put(st)
}

func fail(reply *remoting.Reply, err error) {
	reply.Code, reply.Remark = remoting.SystemError, err.Error()
	if known, ok := err.(*remoting.Error); ok {
		reply.Code, reply.Remark = known.Code, known.Remark
	}
}

// reply writes what the client learns of a stored message. The queue is the one it chose even
// when the message waits in a system queue, whose offset it is told: as the real broker does.
func (st *sendState) reply(reply *remoting.Reply, res store.PutResult) {
	switch res.Status {
	case store.FlushDiskTimeout:
		reply.Code = remoting.FlushDiskTimeout
	case store.FlushSlaveTimeout:
		reply.Code = remoting.FlushSlaveTimeout
	case store.SlaveNotAvailable:
		reply.Code = remoting.SlaveNotAvailable
	}
	st.id = st.id[:0]
	size := int64(res.Size)
	if st.count == 1 {
		st.id = message.AppendOffsetID(st.id, st.send.opts.StoreHost, res.CommitLogOffset)
		st.countIn(size)
	} else {
		size = 0
		for i := range st.recs {
			if i > 0 {
				st.id = append(st.id, ',')
			}
			st.id = message.AppendOffsetID(st.id, st.send.opts.StoreHost, st.recs[i].CommitLogOffset)
			one := int64(message.EncodedLen(&st.recs[i]))
			st.counters.In(stats.Normal, one)
			size += one
		}
	}
	reply.Ext.Plain("msgId", st.id)
	reply.Ext.Int("queueId", int64(st.queueID))
	reply.Ext.Int("queueOffset", res.QueueOffset)
	if len(st.uniqKey) > 0 {
		reply.Ext.Bytes("transactionId", st.uniqKey)
	}
	st.recallHandle(reply)
	st.stored(size)
}

// stored counts what was stored, where it was: a delayed message is one of its topic's when it is
// delivered.
func (st *sendState) stored(size int64) {
	s, counters, queueID := st.send, st.counters, st.queueID
	switch {
	case st.found.transaction:
		st.prepared(size)
		return
	case st.count == 1 && st.rec.Topic != st.config.TopicName && st.rec.Topic != "":
		counters, queueID = s.opts.Stats.TopicCounters([]byte(st.rec.Topic)), st.rec.QueueID
		if st.rec.Topic == message.TopicSchedule {
			counters.QueuePut(queueID, size)
		}
	}
	counters.PutOK(st.count, size)
	if s.opts.Wire != nil {
		counters.PutTook(queueID, s.opts.Wire.NowMillis()-st.started)
	}
}
