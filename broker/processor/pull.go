package processor

import (
	"fmt"
	"sync/atomic"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker/client"
	"github.com/wheelmq/wheelmq/broker/filter"
	"github.com/wheelmq/wheelmq/broker/inflight"
	"github.com/wheelmq/wheelmq/broker/longpoll"
	"github.com/wheelmq/wheelmq/broker/offset"
	"github.com/wheelmq/wheelmq/broker/rewind"
	"github.com/wheelmq/wheelmq/broker/stats"
	"github.com/wheelmq/wheelmq/broker/subscription"
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/remoting"
)

// Bits of a pull's sysFlag.
const (
	pullCommitOffset int32 = 1 << 0
	pullSuspend      int32 = 1 << 1
	pullSubscription int32 = 1 << 2
)

// Values of forbiddenType, which says what a code 16 is about.
const (
	forbiddenBroker    = 1
	forbiddenGroup     = 2
	forbiddenTopic     = 3
	forbiddenBroadcast = 4
	forbiddenPair      = 5 // the group, for this topic
)

// faq ends the remarks of the real server that a user is meant to read.
const faq = "\nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details."

type (
	topicReader interface {
		Get(name []byte) *topic.Config
	}
	groupFinder interface {
		// Find may create the group; nil when it does not exist.
		Find(name []byte) *subscription.Config
		// Forbids tells whether a group may not read a topic.
		Forbids(group, topicName []byte) bool
	}
	consumerReader interface {
		Group(name []byte) *client.ConsumerGroup
		// Remembered is what a group subscribed to last, online or not; nil when nobody told.
		Remembered(group, topic []byte) *client.Subscription
	}
	pullOffsets interface {
		Commit(group, topic []byte, queueID int32, offset int64) offset.Taken
		Pulled(group, topic []byte, queueID int32, next int64)
		Query(group, topic []byte, queueID int32) int64
		// TakeReset and ResetPending have something to tell only while Resetting does.
		Resetting() bool
		TakeReset(group, topic string, queueID int32, at int64) (offset int64, ok bool)
		ResetPending(group, topic string, queueID int32) bool
	}
)

// PullOptions are what pulls need.
type PullOptions struct {
	Topics      topicReader
	Groups      groupFinder
	Clients     consumerReader
	Offsets     pullOffsets
	Store       messageLog
	Polls       *longpoll.Service
	Stats       *stats.Service
	Wire        clock.Clock
	Differences *difference.Set
	Log         logrus.FieldLogger
	InFlight    *inflight.Tracker // is told what is given out; may be nil

	// Rewound, when not nil, sends a client that goes on where an earlier life ended, or pulls past
	// the end of a queue, back to what its group has committed, at once: a test took back what it
	// has seen.
	Rewound *rewind.Memory

	// Readable tells whether brokerPermission lets consumers read; nil is always.
	Readable func() bool
	// PropertyFilter tells whether SQL92 filters are served (enablePropertyFilter); nil is never.
	PropertyFilter func() bool
	// Verdicts counts what SQL92 filters say; may be nil.
	Verdicts *filter.Verdicts
	// BrokerName goes into the remark when it does not.
	BrokerName string
	PullSettings
}

// PullSettings are what may change while pulls come.
type PullSettings struct {
	// NoLitePull is litePullMessageEnable=false.
	NoLitePull bool
	// LongPolling is longPollingEnable; without it a pull is held ShortPollingMs at most.
	LongPolling    bool
	ShortPollingMs int64 // 0: 1,000
	Limits         PullLimits
}

// Pull serves PULL_MESSAGE (11) and LITE_PULL_MESSAGE (361), which DefaultLitePullConsumer sends.
//
// It runs on the event loop: what it reads is in memory. A pull of records further behind
// the end of the log than Limits.HotBytes goes to the long-poll service's goroutines, and so does
// one whose filter is slow. The request field maxMsgBytes is carried but not used, as in the real
// server.
type Pull struct {
	opts     PullOptions
	settings atomic.Pointer[PullSettings]
	records  records
	exprs    filter.Cache
}

// NewPull returns the family of PULL_MESSAGE.
func NewPull(opts PullOptions) *Pull {
	p := &Pull{opts: opts, records: records{store: opts.Store, verdicts: opts.Verdicts, log: opts.Log}}
	p.Set(opts.PullSettings)
	return p
}

// Set changes the settings for the pulls that come from now on.
func (p *Pull) Set(s PullSettings) {
	s.Limits.setDefaults()
	if s.ShortPollingMs <= 0 {
		s.ShortPollingMs = 1000
	}
	p.settings.Store(&s)
	p.records.limits.Store(&s.Limits)
}

// Routes returns the table rows.
func (p *Pull) Routes() []remoting.Route {
	pull := remoting.Route{
		Code: remoting.PullMessage, Class: remoting.Inline, Handler: p.pull, Since: "3.0",
		Test: "broker/processor/pull_test.go",
	}
	lite := pull
	lite.Code, lite.Name, lite.Since = remoting.LitePullMessage, "LITE_PULL_MESSAGE", "4.9"
	return []remoting.Route{pull, lite}
}

// pullTarget is a pull that has passed every check.
type pullTarget struct {
	group    *subscription.Config
	topic    *topic.Config
	queueID  int32
	offset   int64
	maxNums  int32
	filter   *filter.Filter
	counters *stats.Group
	connID   uint64
}

func (t *pullTarget) place() inflight.Place {
	return inflight.Place{Group: t.group.GroupName, Topic: t.topic.TopicName, QueueID: t.queueID}
}

func (p *Pull) pull(ex *remoting.Exchange) error {
	var req remoting.PullMessageRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	ex.Reply.Ext.Open()
	target, err := p.check(ex, &req)
	if err != nil {
		return err
	}
	if req.SysFlag&pullCommitOffset != 0 {
		p.opts.Offsets.Commit(req.ConsumerGroup, req.Topic, req.QueueID, req.CommitOffset)
	}
	if p.opts.InFlight != nil {
		p.opts.InFlight.Asked(target.place(), target.connID, target.offset)
	}
	queue := p.opts.Store.Queue(req.Topic, req.QueueID)
	if p.apart(queue, &target) && !p.opts.Polls.Full() {
		p.opts.Polls.Resume(p.hold(ex, target, 0))
		return nil
	}
	got := p.read(queue, &target, &ex.Reply)
	p.opts.Offsets.Pulled(req.ConsumerGroup, req.Topic, req.QueueID, got.next)
	if got.code == remoting.PullNotFound && req.SysFlag&pullSuspend != 0 && req.SuspendTimeoutMillis > 0 && !p.opts.Polls.Full() {
		p.park(ex, target, req.SuspendTimeoutMillis)
	}
	return nil
}

// toolsGroup is the consumer group of mqadmin and dashboards.
const toolsGroup = "TOOLS_CONSUMER"

// check refuses what may not be pulled, in the real server's order.
func (p *Pull) check(ex *remoting.Exchange, req *remoting.PullMessageRequest) (pullTarget, error) {
	target := pullTarget{queueID: req.QueueID, offset: req.QueueOffset, maxNums: req.MaxMsgNums, connID: ex.Conn.ID()}
	if p.opts.Readable != nil && !p.opts.Readable() {
		return target, forbid(ex, forbiddenBroker, "the broker[%s] pulling message is forbidden", p.opts.BrokerName)
	}
	if p.settings.Load().NoLitePull && ex.Req.Code == remoting.LitePullMessage {
		return target, forbid(ex, forbiddenBroker, "the broker[%s] for lite pull consumer is forbidden", p.opts.BrokerName)
	}
	if target.group = p.opts.Groups.Find(req.ConsumerGroup); target.group == nil {
		return target, remoting.Errorf(remoting.SubscriptionGroupNotExist,
			"subscription group [%s] does not exist, %s", req.ConsumerGroup, faq)
	}
	if !target.group.ConsumeEnable {
		return target, forbid(ex, forbiddenGroup, "subscription group no permission, %s", req.ConsumerGroup)
	}
	if target.topic = p.opts.Topics.Get(req.Topic); target.topic == nil {
		return target, remoting.Errorf(remoting.TopicNotExist, "topic[%s] not exist, apply first please! %s", req.Topic, faq)
	}
	if target.topic.Perm&topic.PermRead == 0 {
		return target, forbid(ex, forbiddenTopic, "the topic[%s] pulling message is forbidden", req.Topic)
	}
	if topic.Rule(req.Topic).NoPull && string(req.ConsumerGroup) != toolsGroup && p.opts.Differences.Use(difference.SystemTopicsForTools) {
		return target, forbid(ex, forbiddenTopic, "the topic[%s] holds what is not visible yet, only %s may pull from it", req.Topic, toolsGroup)
	}
	if req.QueueID < 0 || req.QueueID >= target.topic.ReadQueueNums {
		return target, remoting.Errorf(remoting.InvalidParameter,
			"queueId[%d] is illegal, topic:[%s] topicConfig.readQueueNums:[%d] consumer:[/%s]",
			req.QueueID, req.Topic, target.topic.ReadQueueNums, ex.Conn.RemoteAddr())
	}
	target.counters = p.opts.Stats.GroupCounters(req.ConsumerGroup, req.Topic)
	var err error
	target.filter, err = p.subscribed(ex, req, target.group)
	return target, err
}

// forbid is code 16 with its forbiddenType.
func forbid(ex *remoting.Exchange, forbiddenType int64, format string, args ...any) error {
	ex.Reply.Ext.Int("forbiddenType", forbiddenType)
	return &remoting.Error{Code: remoting.NoPermission, Remark: fmt.Sprintf(format, args...)}
}
