package transaction

import (
	"strconv"
	"sync/atomic"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

// room is what a half message's properties may need beyond those that were sent: here, when it is
// committed, and on a real broker that opens the store.
const room = 160

// mostChecks is the longest value of TRANSACTION_CHECK_TIMES.
const mostChecks = "65535"

var errNoRoom = &remoting.Error{Code: remoting.MessageIllegal,
	Remark: "the message is illegal: its properties leave no room for those that a transaction needs, limit 32KB."}

// Times are the times of transactions, ms.
type Times struct {
	TimeoutMs  int64 // transactionTimeOut: how old a half message is before its producer is asked
	IntervalMs int64 // transactionCheckInterval: between two questions
	ReservedMs int64 // fileReservedTime: how old a half message gets
}

// Admission makes half messages of prepared ones. It is safe for concurrent use.
type Admission struct {
	// Delayed looks at a message that asks for a delay, which begins with its commit, and says why
	// it would be refused then. It may rewrite the record it is given. May be nil.
	Delayed func(rec *message.Record) error

	// youngest is after how many ms a half message may be due at the earliest.
	youngest atomic.Int64
}

// NewAdmission returns an Admission.
func NewAdmission(t Times) *Admission {
	a := &Admission{}
	a.youngest.Store(t.TimeoutMs)
	return a
}

// Hook is prepareTransaction: what a client sends as prepared goes to the half topic and keeps where
// it is meant for as REAL_TOPIC and REAL_QID. It comes before the hook that delays messages.
func (a *Admission) Hook() appender.Hook {
	return a.apply
}

func (a *Admission) apply(rec *message.Record, origin appender.Origin) error {
	if origin != appender.FromClient || rec.SysFlag&message.SysFlagTransactionMask != message.SysFlagPrepared {
		return nil
	}
	rec.SysFlag &^= message.SysFlagTransactionMask
	if value, ok := message.PropertyGet(rec.Properties, message.PropertyCheckImmunity); ok {
		a.note(immunity(value))
	}
	return a.rewrite(rec)
}

// mayBeDelayed refuses what could not be delayed when it is committed. props are the properties that
// the committed message has at least.
func (a *Admission) mayBeDelayed(rec *message.Record, props []byte) error {
	if a.Delayed == nil || !mayAskForDelay(props) {
		return nil
	}
	trial := *rec
	trial.Scratch = nil
	trial.Properties = message.PropertyAppend(props, message.PropertyCheckTimes, mostChecks)
	return a.Delayed(&trial)
}

func mayAskForDelay(props []byte) bool {
	if message.HasTimer(props) {
		return true
	}
	if _, level := message.PropertyGet(props, message.PropertyDelay); level {
		return true
	}
	_, instant := message.PropertyGet(props, message.PropertyStartDeliverTime)
	return instant
}

// note remembers the shortest time after which a producer wants to be asked, ms.
func (a *Admission) note(immunityMs int64) {
	for immunityMs >= 0 {
		now := a.youngest.Load()
		if immunityMs >= now || a.youngest.CompareAndSwap(now, immunityMs) {
			return
		}
	}
}

func (a *Admission) rewrite(rec *message.Record) error {
	props := message.PropertyCopyWithout(rec.Scratch[:0], rec.Properties, replaced)
	if key, ok := message.PropertyGet(rec.Properties, message.PropertyUniqKey); ok {
		props = message.PropertyAppend(props, message.PropertyTransactionID, key)
	}
	if err := a.mayBeDelayed(rec, props); err != nil {
		return err
	}
	var digits [20]byte
	props = message.PropertyAppend(props, message.PropertyRealTopic, rec.Topic)
	props = message.PropertyAppend(props, message.PropertyRealQueueID, strconv.AppendInt(digits[:0], int64(rec.QueueID), 10))
	if len(props)+room > message.MaxPropertiesLength {
		return errNoRoom
	}
	rec.Scratch, rec.Properties = props, props
	rec.Topic, rec.QueueID = message.TopicTransHalf, 0
	return nil
}

// replaced names the properties that rewrite sets anew or that are a broker's to say.
func replaced(name []byte) bool {
	switch string(name) {
	case message.PropertyTransactionID, message.PropertyRealTopic, message.PropertyRealQueueID,
		message.PropertyCheckTimes, message.PropertyPreparedQueueOffset:
		return true
	}
	return false
}
