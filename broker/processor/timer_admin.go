package processor

import (
	"encoding/binary"
	"maps"
	"slices"
	"strconv"

	"github.com/wheelmq/wheelmq/remoting"
)

// TimerState is how far any-time delays are.
type TimerState struct {
	ReadMs               int64 // the instant up to which everything is delivered
	TakenIn, Queued      int64 // offsets of the timer queue: of what is taken in next, and its end
	Pending              int64 // messages that wait
	EnqueuedTPS, DueTPS  float64
	Changes, ChangedAtMs int64 // how often the state was saved, and when last
}

// TimerTopic is how many messages wait for one topic.
type TimerTopic struct {
	Count       int64
	ChangedAtMs int64
}

// TimerAdmin serves GET_TIMER_CHECK_POINT (60), GET_TIMER_METRICS (61) and SWITCH_TIMER_ENGINE (5001).
// Without a State and Topics it answers as a real broker whose timers are off.
type TimerAdmin struct {
	State  func() TimerState
	Topics func() map[string]TimerTopic
}

// Routes returns the table rows.
func (a *TimerAdmin) Routes() []remoting.Route {
	const test = "broker/processor/timer_admin_test.go"
	return []remoting.Route{
		{Code: remoting.GetTimerCheckPoint, Class: remoting.Admin, Handler: a.checkpoint, Since: "5.0", Test: test},
		{Code: remoting.GetTimerMetrics, Class: remoting.Admin, Handler: a.metrics, Since: "5.0", Test: test},
		{Code: remoting.SwitchTimerEngine, Class: remoting.Inline, Handler: a.switchEngine, Since: "5.5", Test: test},
	}
}

// checkpoint answers with the real broker's config/timercheck. Of the timer log there is no
// position that a replica could use: it is 0.
func (a *TimerAdmin) checkpoint(ex *remoting.Exchange) error {
	if a.State == nil {
		return &remoting.Error{Code: remoting.SystemError, Remark: "The checkpoint is null"}
	}
	s := a.State()
	for _, v := range []int64{s.ReadMs, 0, s.TakenIn, s.TakenIn, 0, s.ChangedAtMs, s.Changes} {
		ex.Reply.Body = binary.BigEndian.AppendUint64(ex.Reply.Body, uint64(v))
	}
	return nil
}

func (a *TimerAdmin) metrics(ex *remoting.Exchange) error {
	if a.Topics == nil || a.State == nil {
		return &remoting.Error{Code: remoting.SystemError, Remark: "The timer message store is null"}
	}
	s, topics := a.State(), a.Topics()
	body := append([]byte(`{"dataVersion":{"counter":`), decimal(s.Changes)...)
	body = append(append(body, `,"stateVersion":0,"timestamp":`...), decimal(s.ChangedAtMs)...)
	body = append(body, `},"timingCount":{`...)
	for i, name := range slices.Sorted(maps.Keys(topics)) {
		if i > 0 {
			body = append(body, ',')
		}
		body = remoting.AppendJSONString(body, name)
		body = append(append(body, `:{"count":`...), decimal(topics[name].Count)...)
		body = append(append(append(body, `,"timeStamp":`...), decimal(topics[name].ChangedAtMs)...), '}')
	}
	ex.Reply.Body = append(body, "}}"...)
	return nil
}

// switchEngine: timers are kept in files, which is the real broker's engine F; of its other engine,
// R in RocksDB, the answer is what it says when that is not configured.
func (a *TimerAdmin) switchEngine(ex *remoting.Exchange) error {
	refuse := func(remark string) error { return &remoting.Error{Code: remoting.InvalidParameter, Remark: remark} }
	if a.State == nil {
		return refuse("broker timerWheelEnable is false")
	}
	engine, ok := ex.Req.Ext.Get("E_T")
	switch {
	case !ok:
		return refuse("param error, extFields is null")
	case string(engine) == "F":
		ex.Reply.Remark = "switch timer engine success"
		return nil
	case string(engine) == "R":
		return refuse("timerRocksDBEnable must be configured true when broker start")
	}
	return refuse("param error")
}

// addTimers shows how far timers are: seconds behind, records that wait to be taken in, messages
// that wait for their time, and how many came and went per second.
func (r *RuntimeInfo) addTimers(t map[string]string) {
	var s TimerState
	behind := int64(0)
	if r.Timers != nil {
		s = r.Timers()
		behind = max(0, r.MessageTime.NowMillis()-s.ReadMs) / 1000
	}
	t["timerReadBehind"], t["timerOffsetBehind"] = decimal(behind), decimal(max(0, s.Queued-s.TakenIn))
	t["timerCongestNum"] = decimal(s.Pending)
	t["timerEnqueueTps"], t["timerDequeueTps"] = tps(s.EnqueuedTPS), tps(s.DueTPS)
}

// tps is a rate as a Java float of few digits.
func tps(v float64) string {
	return strconv.FormatFloat(v, 'f', 1, 64)
}
