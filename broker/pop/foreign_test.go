package pop_test

import (
	"fmt"
	"net/netip"
	"testing"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/message"
)

const reviveTopic = "rmq_sys_REVIVE_LOG_C"

// record puts a record of the real broker's about popped messages into its revive topic.
func (l *lab) record(tag, body string) {
	l.t.Helper()
	rec := message.Record{
		Topic: reviveTopic, Body: []byte(body), Properties: message.PropertyAppend(nil, message.PropertyTags, tag),
		BornHost: netip.MustParseAddrPort("127.0.0.1:1"), StoreHost: netip.MustParseAddrPort("127.0.0.1:10911"),
	}
	_, _, err := l.appender.Put(&rec, appender.FromScheduler, nil)
	l.must(err)
}

func checkpointOf(start, popTime int64, bits int, diffs string) string {
	return fmt.Sprintf(`{"bm":%d,"bn":"broker-a","c":"G","d":%s,"it":5000,"n":3,"pt":%d,"q":0,"ro":7,"rp":"0","so":%d,"t":"T"}`, bits, diffs, popTime, start)
}

// TestForeign_WhatTheRealBrokerHadInFlightIsTakenOver: a checkpoint that was there, one that its timers
// deliver later, acknowledgements before and after them.
func TestForeign_WhatTheRealBrokerHadInFlightIsTakenOver(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.open()
	for i := range 9 {
		l.send("T", 0, fmt.Sprint(i))
	}
	const popTime = startMs - 1000
	l.record("ck", checkpointOf(0, popTime, 2, "[]"))
	l.record("ack", fmt.Sprintf(`{"ao":0,"bn":"broker-a","c":"G","pt":%d,"q":0,"so":0,"t":"T"}`, popTime))
	l.offsets.Commit([]byte("G"), []byte("T"), 0, 6)
	l.close()
	l.open() // the revive topic is there from the beginning
	defer func() { l.close() }()
	l.settle()
	if n := l.service.InFlight("G", "T"); n != 1 {
		t.Errorf("%d are in flight, want message 2", n)
	}
	if l.ack(handle{key: window, offset: 5, popTime: popTime}) {
		t.Error("what nobody knows of is acknowledged with effect")
	}
	l.record("ck", checkpointOf(3, popTime, 0, "[0,1,2]"))
	l.settle()
	if n := l.service.InFlight("G", "T"); n != 3 {
		t.Errorf("%d are in flight, want messages 2, 3 and 4", n)
	}
	l.record("bAck", fmt.Sprintf(`{"aol":[3],"ao":0,"bn":"broker-a","c":"G","pt":%d,"q":0,"so":3,"t":"T"}`, popTime))
	l.settle()
	if !l.ack(handle{key: window, offset: 4, popTime: popTime}) {
		t.Error("a handle of the real broker's has no effect")
	}
	l.turn(6999)
	wantBodies(t, l.pop(retry, 32, 1000), "")
	l.turn(1)
	wantBodies(t, l.pop(retry, 32, 1000), "2")
	wantBodies(t, l.pop(window, 32, 1000), "6 7 8")
	if got := l.offsets.Query([]byte("CID_RMQ_SYS_REVIVE_GROUP"), []byte(reviveTopic), 0); got != 3 {
		t.Errorf("the revive topic is read up to and with %d", got)
	}
}
