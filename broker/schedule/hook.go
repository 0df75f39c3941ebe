package schedule

import (
	"strconv"
	"strings"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

// deliveryRoom is what a delivered copy's properties may need beyond those of the pending
// record: a message that would not fit then is refused when it is sent, not dropped when due.
const deliveryRoom = 64

var (
	errNotEnabled = &remoting.Error{Code: remoting.ServiceNotAvailable,
		Remark: "delayed messages are not available: scheduleMessageEnable is false"}
	errNoRoom = &remoting.Error{Code: remoting.MessageIllegal,
		Remark: "the message is illegal: its properties leave no room for those that a delayed message needs, limit 32KB."}
)

// HookOptions are what the hook needs.
type HookOptions struct {
	Levels      *LevelTable
	Enabled     bool // scheduleMessageEnable
	Store       clock.Clock
	AnyTime     AnyTime // nil: no message waits for an instant of its own
	Differences *difference.Set
}

// AnyTime takes messages without a level, of which some wait for an instant of their own.
type AnyTime interface {
	Admit(rec *message.Record) error
}

// NewHook returns handleScheduleMessage: a message with a positive DELAY goes to
// SCHEDULE_TOPIC_XXXX, queue level − 1, and keeps where it was meant for as REAL_TOPIC and
// REAL_QID. Levels beyond the highest are clamped; 0 and less mean no delay. A level wins over
// TIMER_* properties, which are dropped; without one they are for AnyTime to look at.
func NewHook(opts HookOptions) appender.Hook {
	h := hook{opts}
	return h.apply
}

type hook struct{ opts HookOptions }

func (h *hook) apply(rec *message.Record, origin appender.Origin) error {
	if origin == appender.FromScheduler {
		return nil
	}
	if tx := rec.SysFlag & message.SysFlagTransactionMask; tx != 0 && tx != message.SysFlagCommit {
		return nil
	}
	if rec.Topic == message.TopicTransHalf && h.opts.Differences.On(difference.DelayAfterCommit) {
		return nil // it is delayed when it is committed
	}
	level, err := h.level(rec.Properties)
	if err != nil {
		return err
	}
	if level <= 0 {
		if h.opts.AnyTime == nil {
			return nil
		}
		return h.opts.AnyTime.Admit(rec)
	}
	if !h.opts.Enabled && origin == appender.FromClient && !strings.HasPrefix(rec.Topic, message.PrefixRetry) {
		return errNotEnabled
	}
	return h.rewrite(rec, level)
}

// level is the message's DELAY, 0 without one.
func (h *hook) level(props []byte) (int64, error) {
	value, ok := message.PropertyGet(props, message.PropertyDelay)
	if !ok {
		return 0, nil
	}
	level, err := strconv.ParseInt(string(value), 10, 32)
	if err != nil {
		h.opts.Differences.Use(difference.DelayNotNumeric)
		return 0, remoting.Errorf(remoting.MessageIllegal, "the message is illegal: DELAY is %q, want a delay level", value)
	}
	return level, nil
}

func (h *hook) rewrite(rec *message.Record, level int64) error {
	levels := h.opts.Levels.Get()
	level = levels.Clamp(level)
	props := message.PropertyCopyWithout(rec.Scratch[:0], rec.Properties, replaced)
	var digits [20]byte
	props = message.PropertyAppend(props, message.PropertyDelay, strconv.AppendInt(digits[:0], level, 10))
	props = message.PropertyAppend(props, message.PropertyRealTopic, rec.Topic)
	props = message.PropertyAppend(props, message.PropertyRealQueueID, strconv.AppendInt(digits[:0], int64(rec.QueueID), 10))
	due := clock.Ceil(h.opts.Store) + levels.DelayMs(level)
	props = message.PropertyAppend(props, message.PropertyDueMs, strconv.AppendInt(digits[:0], due, 10))
	if len(props)+deliveryRoom > message.MaxPropertiesLength {
		return errNoRoom
	}
	rec.Scratch, rec.Properties = props, props
	rec.Topic, rec.QueueID = message.TopicSchedule, int32(level-1)
	return nil
}

// replaced names the properties that rewrite drops or sets anew.
func replaced(name []byte) bool {
	switch string(name) {
	case message.PropertyDelay, message.PropertyRealTopic, message.PropertyRealQueueID, message.PropertyDueMs,
		message.PropertyTimerDelaySec, message.PropertyTimerDelayMs, message.PropertyTimerDeliverMs:
		return true
	}
	return false
}

// TagsCode is the store's TagsCoder: the due instant for a pending delayed record, the hash of
// TAGS for every other.
func TagsCode(topicName string, props []byte) int64 {
	if topicName == message.TopicSchedule {
		if due, ok := dueOf(props); ok {
			return due
		}
	}
	tags, _ := message.PropertyGet(props, message.PropertyTags)
	return message.TagsHash(tags)
}

// TagsCode is that of a record in the log. A pending record of the real broker carries no due
// instant: its level counts from the instant it was stored at.
func (l Levels) TagsCode(v *message.View) int64 {
	if string(v.Topic) == message.TopicSchedule {
		return l.dueOf(v, int64(v.QueueID)+1)
	}
	return TagsCode(string(v.Topic), v.Properties)
}

// dueOf is the due instant of a pending record, ms. One that lies before the record was stored
// is of an earlier delay: the real broker keeps all properties when a message is sent back.
func (l Levels) dueOf(v *message.View, level int64) int64 {
	if due, ok := dueOf(v.Properties); ok && due >= v.StoreTimestamp {
		return due
	}
	return v.StoreTimestamp + l.DelayMs(level)
}

// dueOf is the due instant in message time that a pending record carries, ms. Records of the
// real broker carry none.
func dueOf(props []byte) (int64, bool) {
	due, ok := message.DueOf(props)
	return due.Ms, ok && !due.Wall
}
