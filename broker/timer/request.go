package timer

import (
	"strconv"

	"github.com/wheelmq/wheelmq/message"
)

// request is what a message's properties ask for.
type request struct {
	props    message.TimerProperties
	relative []byte // how long to wait, in units of unit ms; nil: no relative delay
	unit     int64
	absolute []byte // the instant; nil: none
	cancels  bool   // it removes another message
	known    int64  // an instant of its message's second, ms of a virtual clock; 0: it is not known
}

// served tells whether nothing is left to wait for.
func (r *request) served() bool { return r.relative == nil && r.absolute == nil }

// text is the instant in decimal digits: as the client wrote it, if it did so.
func (r *request) text(dst []byte, due message.Due) []byte {
	if due.Wall && r.relative == nil && len(r.absolute) > 0 && r.absolute[0] >= '1' && r.absolute[0] <= '9' {
		return r.absolute
	}
	return strconv.AppendInt(dst, due.Ms, 10)
}

// read finds what counts: TIMER_DELAY_SEC before TIMER_DELAY_MS, that before TIMER_DELIVER_MS, and
// that before __STARTDELIVERTIME where it is enabled. What a forwarded copy has waited for already
// does not count. ok is what Asked says.
func (a *Admission) read(props []byte) (r request, ok bool) {
	if !message.MayHaveTimer(props) && !(a.limits.Load().StartDeliverTime && property(props, message.PropertyStartDeliverTime) != nil) {
		return r, false
	}
	r.props = message.TimerPropertiesOf(props)
	p := &r.props
	if p.DelaySec == nil && p.DelayMs == nil && p.DeliverMs == nil && (!a.limits.Load().StartDeliverTime || p.StartDeliverTime == nil) {
		return r, false
	}
	r.cancels = p.DelUniqKey != nil
	r.absolute = p.DeliverMs
	if r.absolute == nil && a.limits.Load().StartDeliverTime {
		r.absolute = p.StartDeliverTime
	}
	if a.delivered(p) {
		r.absolute = nil
	}
	// A copy that a real broker delivered still has the relative delay that it has served.
	if p.DequeueMs != nil {
		return r, true
	}
	if r.relative = p.DelaySec; r.relative != nil {
		r.unit = 1000
	} else if r.relative = p.DelayMs; r.relative != nil {
		r.unit = 1
	}
	return r, true
}

// delivered tells whether properties are those of a copy that this server delivered: TIMER_OUT_MS
// belongs to TIMER_DELIVER_MS, which is past in message time. A wall that was set back, or the
// clock of a client beside a virtual one, may lag behind that.
func (a *Admission) delivered(p *message.TimerProperties) bool {
	if p.OutMs == nil {
		return false
	}
	out, err := strconv.ParseInt(string(p.OutMs), 10, 64)
	if err != nil {
		return false
	}
	at, err := strconv.ParseInt(string(p.DeliverMs), 10, 64)
	return err == nil && message.TimerOut(at, a.opts.PrecisionMs) == out && at <= a.opts.Store.NowMillis()
}

// property is a property's value, nil without one.
func property(props []byte, name string) []byte {
	value, _ := message.PropertyGet(props, name)
	return value
}
