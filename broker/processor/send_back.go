package processor

import (
	"math/rand/v2"
	"net/netip"
	"strconv"
	"strings"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/broker/inflight"
	"github.com/wheelmq/wheelmq/broker/stats"
	"github.com/wheelmq/wheelmq/broker/subscription"
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

// firstRetryLevel is the delay level of a first retry that names none.
const firstRetryLevel = 3

// SendBack serves CONSUMER_SEND_MSG_BACK (36): a message that a consumer could not process
// comes back after a delay, or goes to its group's dead letters when it has had its tries.
type SendBack struct {
	Topics    topicCreator
	Groups    groupFinder
	Appender  messageAppender
	Store     recordReader
	Stats     *stats.Service
	StoreHost netip.AddrPort
	InFlight  *inflight.Tracker // is told what comes back; may be nil
}

// Routes returns the table rows.
func (s *SendBack) Routes() []remoting.Route {
	return []remoting.Route{{
		Code: remoting.ConsumerSendMsgBack, Class: remoting.Inline, Handler: s.sendBack,
		Since: "3.0", Test: "broker/processor/send_test.go",
	}}
}

func (s *SendBack) sendBack(ex *remoting.Exchange) error {
	var req remoting.ConsumerSendMsgBackRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	group := s.Groups.Find([]byte(req.Group))
	if group == nil {
		return remoting.Errorf(remoting.SubscriptionGroupNotExist, "subscription group not exist, %s%s", req.Group, faq)
	}
	if group.RetryQueueNums <= 0 {
		return nil
	}
	slice, err := s.Store.Record(req.Offset, 0)
	if err != nil {
		return remoting.Errorf(remoting.SystemError, "look message by offset failed, %d", req.Offset)
	}
	defer slice.Release()
	v, err := message.Parse(slice.Bytes)
	if err != nil {
		return remoting.Errorf(remoting.SystemError, "look message by offset failed, %d", req.Offset)
	}
	rec, err := s.copy(&v, &req, group)
	if err != nil {
		return err
	}
	res, _, err := s.Appender.Put(rec, appender.FromBroker, nil)
	if err != nil {
		return err
	}
	s.count(&v, group.GroupName, rec, int64(res.Size))
	if s.InFlight != nil {
		s.InFlight.SentBack(group.GroupName)
	}
	return nil
}

// count counts a message that was sent back, of the topic that it was sent to at first, and its copy
// where that lies.
func (s *SendBack) count(v *message.View, group string, rec *message.Record, size int64) {
	origin := v.Topic
	if known, ok := message.PropertyGet(v.Properties, message.PropertyRetryTopic); ok {
		origin = known
	}
	counters := s.Stats.GroupCounters([]byte(group), origin)
	counters.SentBack()
	copies := s.Stats.TopicCounters([]byte(rec.Topic))
	copies.Copied(size)
	kind := stats.Normal
	if rec.Topic == message.TopicSchedule {
		kind = stats.Delay
	}
	copies.In(kind, size)
	switch {
	case rec.Topic == message.TopicSchedule:
		copies.QueuePut(rec.QueueID, size)
	case strings.HasPrefix(rec.Topic, message.PrefixDLQ):
		counters.DeadLetter()
	}
}

// copy is the record that comes back.
func (s *SendBack) copy(v *message.View, req *remoting.ConsumerSendMsgBackRequest, group *subscription.Config) (*message.Record, error) {
	rec := &message.Record{
		Flag: v.Flag, SysFlag: v.SysFlag, BornTimestamp: v.BornTimestamp, BornHost: v.BornHost, StoreHost: s.StoreHost,
		ReconsumeTimes: v.ReconsumeTimes + 1, Body: v.Body,
	}
	props := message.PropertyCopyWithout(nil, v.Properties, changedBySendBack)
	if _, ok := message.PropertyGet(v.Properties, message.PropertyRetryTopic); !ok {
		props = message.PropertyAppend(props, message.PropertyRetryTopic, v.Topic)
	}
	if _, ok := message.PropertyGet(v.Properties, message.PropertyOriginMessageID); !ok {
		props = message.PropertyAppend(props, message.PropertyOriginMessageID, message.AppendOffsetID(nil, v.StoreHost, v.CommitLogOffset))
	}
	rec.Properties = message.PropertyAppend(props, message.PropertyWait, "false")

	maxTimes := group.RetryMaxTimes
	if req.MaxReconsumeTimes >= 0 {
		maxTimes = req.MaxReconsumeTimes
	}
	if v.ReconsumeTimes >= maxTimes || req.DelayLevel < 0 {
		return rec, toDeadLetters(rec, s.Topics, group.GroupName)
	}
	level := req.DelayLevel
	if level == 0 {
		level = firstRetryLevel + v.ReconsumeTimes
	}
	rec.Properties = message.PropertyAppend(rec.Properties, message.PropertyDelay, strconv.Itoa(int(level)))
	config := s.Topics.CreateRetry(message.PrefixRetry+group.GroupName, group.RetryQueueNums, topic.PermRead|topic.PermWrite)
	if config == nil {
		return nil, remoting.Errorf(remoting.SystemError, "topic[%s%s] not exist", message.PrefixRetry, group.GroupName)
	}
	if config.Perm&topic.PermWrite == 0 {
		return nil, remoting.Errorf(remoting.NoPermission, "the topic[%s] sending message is forbidden", config.TopicName)
	}
	rec.Topic, rec.QueueID = config.TopicName, rand.Int32N(max(1, min(group.RetryQueueNums, config.WriteQueueNums)))
	return rec, nil
}

// changedBySendBack names the properties that a copy sets anew or must not keep: a delay that
// was served already would be served again. REAL_TOPIC and REAL_QID stay, as on the real
// broker.
func changedBySendBack(name []byte) bool {
	switch string(name) {
	case message.PropertyDelay, message.PropertyWait,
		message.PropertyTimerDelaySec, message.PropertyTimerDelayMs, message.PropertyTimerDeliverMs:
		return true
	}
	return false
}
