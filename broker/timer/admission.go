package timer

import (
	"math"
	"strconv"
	"sync/atomic"

	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

// deliveryRoom is what a delivered copy's properties may need beyond those of the pending record,
// here or on a real broker that opens the store: a message that would not fit then is refused when
// it is sent, not dropped when it is due.
const deliveryRoom = 160

// NotEnabled is the answer to a message with a timer where nobody would deliver it.
var NotEnabled = &remoting.Error{Code: remoting.SystemError,
	Remark: "accurate timer message is not enabled, timerWheelEnable is false"}

var errNoRoom = &remoting.Error{Code: remoting.MessageIllegal,
	Remark: "the message is illegal: its properties leave no room for those that a timer message needs, limit 32KB."}

// AdmissionOptions are what an Admission needs.
type AdmissionOptions struct {
	Enabled     bool  // timerWheelEnable
	MaxDelayMs  int64 // timerMaxDelaySec
	PrecisionMs int64 // timerPrecisionMs
	// CongestNum is how many messages may be due in one second before some are refused; from
	// twice as many on all are (timerCongestNumEachSlot).
	CongestNum int64
	// StartDeliverTime makes __STARTDELIVERTIME delay a message (startDeliverTimeEnable).
	StartDeliverTime bool
	// Virtual says that tests turn the clock: an absolute time is then as far ahead as it was for
	// the client that sent it.
	Virtual bool
	// OutOf is the TIMER_OUT_MS of the pending message with a topic and a UNIQ_KEY. With a virtual
	// clock a client that cancels by property cannot name its instant: it is looked up. May be nil.
	OutOf       func(topic string, uniqKey []byte) (outMs int64, ok bool)
	Store       clock.Clock
	CountAt     func(outMs int64) int64 // pending messages in the second of outMs; may be nil
	Soon        func(now int64)         // is told before a message is put that is due soon; now is Store's; may be nil
	Differences *difference.Set
}

// Admission is the timer's half of handleScheduleMessage: it decides which messages wait for an
// instant, refuses what nobody could deliver, and makes the rest pending records of
// rmq_sys_wheel_timer. It is safe for concurrent use.
type Admission struct {
	opts       AdmissionOptions
	limits     atomic.Pointer[Limits]
	congestion congestion
	unmatched  unmatched
}

// NewAdmission returns an Admission.
func NewAdmission(opts AdmissionOptions) *Admission {
	a := &Admission{opts: opts, congestion: congestion{countAt: opts.CountAt, random: randomShare}}
	a.Limit(Limits{MaxDelayMs: opts.MaxDelayMs, CongestNum: opts.CongestNum, StartDeliverTime: opts.StartDeliverTime})
	return a
}

// Limits are what may change while messages come, as the options of the same names.
type Limits struct {
	MaxDelayMs, CongestNum int64
	StartDeliverTime       bool

	refusal *remoting.Error // of what is too far ahead
}

// Limit changes the limits for what comes from now on.
func (a *Admission) Limit(l Limits) {
	l.refusal = remoting.Errorf(remoting.MessageIllegal, "timer message illegal, the delay time should not be bigger than the max delay %dms;"+
		" or if set del msg, the delay time should be bigger than the current time", l.MaxDelayMs)
	a.limits.Store(&l)
}

// Asked tells whether properties ask for an any-time delay.
func (a *Admission) Asked(props []byte) bool {
	if message.HasTimer(props) {
		return true
	}
	if !a.limits.Load().StartDeliverTime {
		return false
	}
	_, ok := message.PropertyGet(props, message.PropertyStartDeliverTime)
	return ok
}

// Admit looks at a record without a delay level. It leaves alone what asks for no instant, for one
// that is past, or lies in a retry or dead-letter topic, where its time was served already; it
// refuses what is illegal, and rewrites the rest.
func (a *Admission) Admit(rec *message.Record) error {
	asked, ok := a.read(rec.Properties)
	if !ok {
		return nil
	}
	if _, derived := topic.GroupOf(rec.Topic); derived {
		a.opts.Differences.Use(difference.TimerNotOnRetries)
		return nil
	}
	if !a.opts.Enabled {
		return NotEnabled
	}
	a.lookUp(&asked, rec)
	if asked.served() {
		return nil
	}
	due, now, err := a.due(&asked, rec.BornTimestamp)
	if err != nil {
		return err
	}
	past, tooFar := due.Ms <= now, due.Ms-now > a.limits.Load().MaxDelayMs
	switch {
	case past && !asked.cancels:
		return nil
	case past, tooFar:
		return a.limits.Load().refusal
	}
	a.match(&asked, rec, &due, now)
	out := message.TimerOut(due.Ms, a.opts.PrecisionMs)
	if !asked.cancels {
		if err := a.congestion.admit(a.limits.Load().CongestNum, out, now); err != nil {
			a.opts.Differences.Use(difference.TimerCongestionAtAdmission)
			return err
		}
	}
	a.note(&asked)
	if due.Ms-now <= soonMs && a.opts.Soon != nil {
		a.opts.Soon(a.opts.Store.NowMillis())
	}
	return a.rewrite(&asked, rec, due, out)
}

// note counts what the real broker would have done otherwise.
func (a *Admission) note(asked *request) {
	a.opts.Differences.Use(difference.TimerToTheMillisecond)
	if asked.relative != nil {
		a.opts.Differences.Use(difference.TimerInstantsOnly)
	}
	if asked.props.OutMs != nil {
		a.opts.Differences.Use(difference.TimerOutMsIsTheBrokers)
	}
}

// lookUp has a cancel name the instant of its message in virtual time. Where that was not sent yet,
// the instant stays as far ahead as the client says, and match brings the two together.
func (a *Admission) lookUp(asked *request, rec *message.Record) {
	if !asked.cancels || !a.opts.Virtual || a.opts.OutOf == nil {
		return
	}
	key := plainKey([]byte(rec.Topic), asked.props.DelUniqKey)
	if out, ok := a.opts.OutOf(rec.Topic, key); ok {
		asked.known = out + 1
	}
}

// due is when a message is due, and what the clock that decides it reads. A relative delay counts
// from now in message time, rounded up so that nothing is early by a fraction of a millisecond.
func (a *Admission) due(asked *request, born int64) (due message.Due, now int64, err error) {
	if asked.known > 0 {
		return message.Due{Ms: asked.known}, a.opts.Store.NowMillis(), nil
	}
	if asked.relative != nil {
		delay, err := a.delay(asked)
		if err != nil {
			return due, 0, err
		}
		now = clock.Ceil(a.opts.Store)
		return message.Due{Ms: now + delay}, now, nil
	}
	at, err := strconv.ParseInt(string(asked.absolute), 10, 64)
	if err != nil {
		return due, 0, a.limits.Load().refusal
	}
	at = min(max(at, 0), math.MaxInt64/2)
	if a.opts.Virtual {
		now = a.opts.Store.NowMillis()
		if born > 0 {
			at += now - born
		}
		return message.Due{Ms: at}, now, nil
	}
	wall := clock.WallMillis(a.opts.Store)
	if asked.cancels {
		// It names the instant of another message, which either clock may decide.
		wall = min(a.opts.Store.NowMillis(), wall)
	}
	return message.Due{Ms: at, Wall: true}, wall, nil
}

// delay is a relative delay, ms. What is too long for 64 bits is too long.
func (a *Admission) delay(asked *request) (int64, error) {
	n, err := strconv.ParseInt(string(asked.relative), 10, 64)
	if err != nil {
		return 0, a.limits.Load().refusal
	}
	if n > math.MaxInt64/2/asked.unit {
		a.opts.Differences.Use(difference.TimerDelayOverflow)
		return 0, a.limits.Load().refusal
	}
	return max(n, -1) * asked.unit, nil
}

// rewrite makes a record pending: TIMER_OUT_MS, REAL_TOPIC and REAL_QID are the real broker's. A
// relative delay becomes the instant it ends at, so that a copy that is forwarded is not delayed
// again.
func (a *Admission) rewrite(asked *request, rec *message.Record, due message.Due, out int64) error {
	var digits [20]byte
	p := message.Pending{Due: due, DeliverMs: asked.text(digits[:0], due), OutMs: out, Topic: rec.Topic, QueueID: rec.QueueID}
	props := rec.Scratch[:0]
	if asked.cancels {
		props = p.AppendLast(asked.props.AppendOthers(props, rec.Properties))
	} else {
		props = asked.props.AppendOthers(p.AppendFirst(props), rec.Properties)
	}
	if len(props)+deliveryRoom > message.MaxPropertiesLength {
		return errNoRoom
	}
	rec.Scratch, rec.Properties = props, props
	rec.Topic, rec.QueueID, rec.TimerOut = message.TopicTimer, 0, out
	return nil
}
