package processor_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/wheelmq/wheelmq/broker/processor"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/remoting"
)

func TestTimerAdmin(t *testing.T) {
	t.Parallel()
	state := func() processor.TimerState {
		return processor.TimerState{ReadMs: 1796041558000, TakenIn: 6, Queued: 9, Pending: 5, ChangedAtMs: 1796041554046, Changes: 11}
	}
	topics := func() map[string]processor.TimerTopic {
		return map[string]processor.TimerTopic{"PT": {Count: 5, ChangedAtMs: 1796041554046}, "A": {}}
	}
	routes := (&processor.TimerAdmin{State: state, Topics: topics}).Routes()
	reply := request(t, routes, &conn{}, remoting.GetTimerCheckPoint, nil, "")
	wantReply(t, reply, remoting.Success, "")
	var got [7]int64
	if err := binary.Read(bytes.NewReader(reply.Body), binary.BigEndian, &got); err != nil || len(reply.Body) != 56 {
		t.Fatalf("%d bytes, %v", len(reply.Body), err)
	}
	if want := [7]int64{1796041558000, 0, 6, 6, 0, 1796041554046, 11}; got != want {
		t.Errorf("checkpoint %v, want %v", got, want)
	}
	reply = request(t, routes, &conn{}, remoting.GetTimerMetrics, nil, "")
	wantReply(t, reply, remoting.Success, "")
	const want = `{"dataVersion":{"counter":11,"stateVersion":0,"timestamp":1796041554046},"timingCount":{"A":{"count":0,"timeStamp":0},"PT":{"count":5,"timeStamp":1796041554046}}}`
	if string(reply.Body) != want {
		t.Errorf("metrics %s, want %s", reply.Body, want)
	}
}

func TestTimerAdmin_WithoutTimers(t *testing.T) {
	t.Parallel()
	routes := new(processor.TimerAdmin).Routes()
	wantReply(t, request(t, routes, &conn{}, remoting.GetTimerCheckPoint, nil, ""), remoting.SystemError, "The checkpoint is null")
	wantReply(t, request(t, routes, &conn{}, remoting.GetTimerMetrics, nil, ""), remoting.SystemError, "The timer message store is null")
}

func TestRuntimeInfo_Timers(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.routes = (&processor.RuntimeInfo{
		Stats: l.stats, Store: l.store, Wire: l.wire, MessageTime: clock.NewVirtual(100_999),
		Timers: func() processor.TimerState {
			return processor.TimerState{ReadMs: 98_000, TakenIn: 6, Queued: 9, Pending: 25_000, EnqueuedTPS: 12.34}
		},
	}).Routes()
	table := l.runtime()
	for key, want := range map[string]string{
		"timerReadBehind": "2", "timerOffsetBehind": "3", "timerCongestNum": "25000", "timerEnqueueTps": "12.3", "timerDequeueTps": "0.0",
	} {
		if table[key] != want {
			t.Errorf("%s is %q, want %q", key, table[key], want)
		}
	}
}

func TestSwitchTimerEngine(t *testing.T) {
	t.Parallel()
	on := &processor.TimerAdmin{State: func() processor.TimerState { return processor.TimerState{} }}
	for _, tt := range []struct {
		admin  *processor.TimerAdmin
		fields ext
		code   int32
		remark string
	}{
		{on, ext{"E_T": "F"}, remoting.Success, "switch timer engine success"},
		{on, ext{"E_T": "R"}, remoting.InvalidParameter, "timerRocksDBEnable must be configured true when broker start"},
		{on, ext{"E_T": "X"}, remoting.InvalidParameter, "param error"},
		{on, nil, remoting.InvalidParameter, "param error, extFields is null"},
		{new(processor.TimerAdmin), ext{"E_T": "F"}, remoting.InvalidParameter, "broker timerWheelEnable is false"},
	} {
		wantReply(t, request(t, tt.admin.Routes(), &conn{}, remoting.SwitchTimerEngine, tt.fields, ""), tt.code, tt.remark)
	}
}
