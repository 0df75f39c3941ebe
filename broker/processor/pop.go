package processor

import (
	"sync/atomic"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker/filter"
	"github.com/wheelmq/wheelmq/broker/inflight"
	"github.com/wheelmq/wheelmq/broker/longpoll"
	"github.com/wheelmq/wheelmq/broker/pop"
	"github.com/wheelmq/wheelmq/broker/stats"
	"github.com/wheelmq/wheelmq/broker/subscription"
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/store"
)

// Bounds of a pop.
const (
	maxPop = 32 // messages (RocketMQ 5.5.0)
	// popLateMs is how long after the end of its poll a pop may come (RocketMQ 5.5.0).
	popLateMs = 500
	// popEarlyMs is how long before that end a held pop is answered (RocketMQ 5.5.0).
	popEarlyMs = 50
	// maxInvisibleMs bounds invisible times; it is 34 years.
	maxInvisibleMs = 1 << 40
)

// Values of reviveQid, which clients hand back in handles.
const (
	orderReviveQid = 999 // of what was popped in order
	reviveQueues   = 8   // of everything else: round robin below that (reviveQueueNum)
)

type (
	// popWindows is what is in flight.
	popWindows interface {
		Acquire(k pop.Key, begin func() int64) (w *pop.Window, ok bool, err error)
		Blocked(k pop.Key, attemptID string, now int64) (until int64, blocked bool)
	}
	committedReader interface {
		Query(group, topic []byte, queueID int32) int64
	}
)

// PopOptions are what pops need.
type PopOptions struct {
	Topics      topicReader
	Groups      groupFinder
	Offsets     committedReader
	Windows     popWindows
	Store       store.Log
	Polls       *longpoll.Service
	Stats       *stats.Service
	Time        clock.Clock // of messages: when they are visible again
	Wire        clock.Clock
	Differences *difference.Set
	Log         logrus.FieldLogger
	Limits      PullLimits
	Verdicts    *filter.Verdicts  // may be nil
	InFlight    *inflight.Tracker // is told what is handed out; may be nil

	// Readable tells whether brokerPermission lets consumers read; nil is always.
	Readable   func() bool
	BrokerName string
	BrokerIP   string // in remarks
	// TimersOff is timerWheelEnable=false, without which the real broker does not pop.
	TimersOff bool
	// SyncFlush makes answers wait until what is in flight is on disk.
	SyncFlush bool
	PopSettings
}

// PopSettings are keys that may change while the server runs.
type PopSettings struct {
	// RetryV2 is enableRetryTopicV2: which retry topic is read first.
	RetryV2 bool
	// MaxInFlight is how many messages of a queue may be in flight to a group for it to be given more; 0:
	// any number (popInflightMessageThreshold).
	MaxInFlight int64
	// ActualRetryTopic is popResponseReturnActualRetryTopic: messages of retry topics are handed out
	// as they are stored.
	ActualRetryTopic bool
	// RetryPercent is how many pops in a hundred read retry topics first (popFromRetryProbability), and
	// RetryPercentPriority of a topic with priorities.
	RetryPercent, RetryPercentPriority int
	// LowQueuesFirst is priorityOrderAsc=false: of a topic with priorities, queue 0 is the first.
	LowQueuesFirst bool
	// NewGroupsAtEnd is initPopOffsetByCheckMsgInMem=false: a new group that wants the latest messages
	// begins with the last one, although the first one is still in memory.
	NewGroupsAtEnd bool
}

// Pop serves POP_MESSAGE (200050), PEEK_MESSAGE (200052), NOTIFICATION (200054) and POLLING_INFO
// (200055). It runs on the event loop like Pull, and what is slow is read where slow pulls are.
type Pop struct {
	opts    PopOptions
	records records
	exprs   filter.Cache
	broken  brokenFilters
	popped  atomic.Uint32 // for reviveQid
	// settings are those in force.
	settings atomic.Pointer[PopSettings]
}

// NewPop returns the family of POP_MESSAGE.
func NewPop(opts PopOptions) *Pop {
	p := &Pop{opts: opts, records: records{store: opts.Store, verdicts: opts.Verdicts, log: opts.Log}}
	p.Limit(opts.Limits)
	p.Set(opts.PopSettings)
	return p
}

// Set changes the settings for the pops that come from now on.
func (p *Pop) Set(s PopSettings) { p.settings.Store(&s) }

// Limit changes the limits for the pops that come from now on.
func (p *Pop) Limit(l PullLimits) {
	l.setDefaults()
	p.records.limits.Store(&l)
}

// Routes returns the table rows.
func (p *Pop) Routes() []remoting.Route {
	const test = "broker/processor/pop_test.go"
	return []remoting.Route{
		{Code: remoting.PopMessage, Class: remoting.Inline, Handler: p.pop, Since: "5.0", Test: test},
		{Code: remoting.PeekMessage, Class: remoting.Inline, Handler: p.peek, Since: "5.0", Test: test},
		{Code: remoting.Notification, Class: remoting.Inline, Handler: p.notification, Since: "5.0", Test: test},
		{Code: remoting.PollingInfo, Class: remoting.Inline, Handler: p.pollingInfo, Since: "5.0", Test: test},
	}
}

// popTarget is a pop that has passed every check.
type popTarget struct {
	group       *subscription.Config
	topic       *topic.Config
	queueID     int32 // below 0: any
	maxNums     int32
	invisibleMs int64
	fromMax     bool // a new group begins at the end
	filter      *filter.Filter
	order       bool
	attemptID   string
	deadline    int64 // ms of the wire clock until which it may be held; 0: it may not
	connID      uint64
}

func (p *Pop) pop(ex *remoting.Exchange) error {
	var req remoting.PopMessageRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	target, err := p.check(ex, &req)
	if err != nil {
		// Every refusal has the fields, 0.
		new(remoting.PopMessageResponse).Encode(&ex.Reply.Ext)
		return err
	}
	if p.apart(&target) && !p.opts.Polls.Full() {
		h := p.held(&target, ex.Defer())
		p.opts.Polls.Resume(&h.waiter)
		return nil
	}
	if p.opts.SyncFlush {
		h := p.held(&target, ex.Defer())
		h.run()
		return nil
	}
	run := p.begin(&target, &ex.Reply)
	run.read()
	if p.holds(run) {
		h := p.held(&target, ex.Defer())
		h.rest, h.hindered = run.rest, run.hindered
		run.end()
		ex.Reply.Reset()
		p.park(h)
		return nil
	}
	run.answer()
	run.end()
	return nil
}

// check refuses what may not be popped, in the real server's order.
func (p *Pop) check(ex *remoting.Exchange, req *remoting.PopMessageRequest) (t popTarget, err error) {
	now := p.opts.Wire.NowMillis()
	if req.BornTime == 0 {
		req.BornTime = now
	}
	if now-req.BornTime-req.PollTime > popLateMs {
		return t, remoting.Errorf(remoting.PollingTimeout, "the broker[%s] pop message is timeout too much", p.opts.BrokerIP)
	}
	if p.opts.Readable != nil && !p.opts.Readable() {
		return t, remoting.Errorf(remoting.NoPermission, "the broker[%s] pop message is forbidden", p.opts.BrokerIP)
	}
	if req.MaxMsgNums > maxPop {
		return t, remoting.Errorf(remoting.InvalidParameter, "the broker[%s] pop message's num is greater than %d", p.opts.BrokerIP, maxPop)
	}
	if req.MaxMsgNums <= 0 {
		return t, remoting.Errorf(remoting.InvalidParameter, "the broker[%s] pop message's num is %d, less than 1", p.opts.BrokerIP, req.MaxMsgNums)
	}
	if p.opts.TimersOff && !p.opts.Differences.Use(difference.PopWithoutTimers) {
		return t, remoting.Errorf(remoting.SystemError, "the broker[%s] pop message is forbidden because timerWheelEnable is false", p.opts.BrokerIP)
	}
	if t.topic, t.group, err = p.readable(ex, req.Topic, req.ConsumerGroup, req.QueueID); err != nil {
		return t, err
	}
	if t.filter, err = p.compile(req.ConsumerGroup, req.Topic, req.ExpressionType, req.Expression); err != nil {
		return t, err
	}
	t.queueID, t.maxNums, t.order, t.connID = max(req.QueueID, longpoll.AnyQueue), req.MaxMsgNums, req.Order, ex.Conn.ID()
	t.invisibleMs, t.fromMax = min(max(req.InvisibleTime, 0), maxInvisibleMs), req.InitMode != 0
	if req.Order {
		t.attemptID = string(req.AttemptID)
	}
	t.deadline = pollUntil(now, req.BornTime, req.PollTime)
	return t, nil
}

// pollUntil is until when a request may be held, 0: it may not. A client's clock that is ahead holds
// it no longer than it asks for.
func pollUntil(now, bornTime, pollTime int64) int64 {
	if until := min(bornTime, now) + pollTime - popEarlyMs; pollTime > 0 && until > now {
		return until
	}
	return 0
}

// readable refuses a topic, group or queue that may not be read.
func (p *Pop) readable(ex *remoting.Exchange, topicName, groupName []byte, queueID int32) (*topic.Config, *subscription.Config, error) {
	config := p.opts.Topics.Get(topicName)
	if config == nil {
		return nil, nil, remoting.Errorf(remoting.TopicNotExist, "topic[%s] not exist, apply first please! %s", topicName, faq)
	}
	if config.Perm&topic.PermRead == 0 {
		return nil, nil, remoting.Errorf(remoting.NoPermission, "the topic[%s] peeking message is forbidden", topicName)
	}
	if topic.Rule(topicName).NoPull && p.opts.Differences.Use(difference.SystemTopicsForTools) {
		return nil, nil, remoting.Errorf(remoting.NoPermission, "the topic[%s] holds what is not visible yet, nobody may pop from it", topicName)
	}
	if queueID >= config.ReadQueueNums {
		return nil, nil, illegalQueue(ex, remoting.InvalidParameter, config, queueID)
	}
	group := p.opts.Groups.Find(groupName)
	if group == nil {
		return nil, nil, remoting.Errorf(remoting.SubscriptionGroupNotExist, "subscription group [%s] does not exist, %s", groupName, faq)
	}
	if !group.ConsumeEnable {
		return nil, nil, remoting.Errorf(remoting.NoPermission, "subscription group no permission, %s", groupName)
	}
	return config, group, nil
}

func illegalQueue(ex *remoting.Exchange, code int32, config *topic.Config, queueID int32) error {
	return remoting.Errorf(code, "queueId[%d] is illegal, topic:[%s] topicConfig.readQueueNums:[%d] consumer:[/%s]",
		queueID, config.TopicName, config.ReadQueueNums, ex.Conn.RemoteAddr())
}
