package processor_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/broker/processor"
	"github.com/wheelmq/wheelmq/remoting"
)

// realKeys are the keys of the real 5.5.0's answer, scheduleMessageOffset_<level> and
// commitLogDiskRatio_<path> apart.
const realKeys = `EndTransactionQueueSize EndTransactionThreadPoolQueueCapacity ackThreadPoolQueueCapacity
ackThreadPoolQueueHeadWaitTimeMills ackThreadPoolQueueSize bootTimestamp brokerActive brokerVersionDesc commitLogDirCapacity
commitLogDiskRatio commitLogMaxOffset commitLogMinOffset consumeQueueDiskRatio dispatchBehindBytes dispatchMaxBuffer
earliestMessageTimeStamp getFoundTps getMessageEntireTimeMax getMissTps getTotalTps getTransferredTps
litePullThreadPoolQueueCapacity litePullThreadPoolQueueHeadWaitTimeMills litePullThreadPoolQueueSize msgGetTotalTodayMorning
msgGetTotalTodayNow msgGetTotalYesterdayMorning msgPutTotalTodayMorning msgPutTotalTodayNow msgPutTotalYesterdayMorning
pageCacheLockTimeMills pullThreadPoolQueueCapacity pullThreadPoolQueueHeadWaitTimeMills pullThreadPoolQueueSize putLatency99
putLatency999 putMessageAverageSize putMessageDistributeTime putMessageEntireTimeMax putMessageFailedTimes putMessageSizeTotal
putMessageTimesTotal putTps queryThreadPoolQueueCapacity queryThreadPoolQueueHeadWaitTimeMills queryThreadPoolQueueSize
remainHowManyDataToFlush remainTransientStoreBufferNumbs runtime sendThreadPoolQueueCapacity sendThreadPoolQueueHeadWaitTimeMills
sendThreadPoolQueueSize startAcceptSendRequestTimeStamp timerCongestNum timerDequeueTps timerEnqueueTps timerOffsetBehind
timerReadBehind`

func (l *lab) runtime() map[string]string {
	l.t.Helper()
	var body struct {
		Table map[string]string `json:"table"`
	}
	if err := json.Unmarshal(l.admin(remoting.GetBrokerRuntimeInfo, nil).Body, &body); err != nil {
		l.t.Fatal(err)
	}
	return body.Table
}

func TestRuntimeInfoHasEveryKey(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	table := l.runtime()
	for key := range strings.FieldsSeq(realKeys) {
		if _, ok := table[key]; !ok {
			t.Errorf("%s is missing", key)
		}
		delete(table, key)
	}
	if got := table["scheduleMessageOffset_18"]; got != "0,2" {
		t.Errorf("scheduleMessageOffset_18 %q, want 0,2", got)
	}
	delete(table, "scheduleMessageOffset_18")
	delete(table, "commitLogDiskRatio_/")
	if table["brokerVersion"] != "513" || table["getTransferedTps"] != "0.0 0.0 0.0" {
		t.Errorf("keys for older tools: %q, %q", table["brokerVersion"], table["getTransferedTps"])
	}
	delete(table, "brokerVersion")
	delete(table, "getTransferedTps")
	for key := range table {
		t.Errorf("%s is not the real server's", key)
	}
}

func TestRuntimeInfoFollowsTheStore(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	want := func(values map[string]string) {
		t.Helper()
		table := l.runtime()
		for key, value := range values {
			if table[key] != value {
				t.Errorf("%s %q, want %q", key, table[key], value)
			}
		}
	}
	want(map[string]string{
		"commitLogMinOffset": "-1", "commitLogMaxOffset": "0", "earliestMessageTimeStamp": "-1", "putTps": "0.0 0.0 0.0",
		"runtime": "[ 0 days, 0 hours, 0 minutes, 0 seconds ]", "putMessageAverageSize": "0.0", "remainHowManyDataToFlush": "0 B",
	})
	place := l.put("T", 0, "", "x")
	l.stats.TopicCounters([]byte("T")).PutOK(2, 150)
	l.wire.Set(l.wire.NowMillis() + 93_784_000)
	want(map[string]string{
		"commitLogMinOffset": "0", "earliestMessageTimeStamp": "1700000000000", "msgPutTotalTodayNow": "2",
		"putMessageTimesTotal": "2", "putMessageSizeTotal": "150", "putMessageAverageSize": "75.0",
		"runtime": "[ 1 days, 2 hours, 3 minutes, 4 seconds ]",
	})
	if end := l.runtime()["commitLogMaxOffset"]; end == "0" || place.CommitLogOffset != 0 {
		t.Errorf("the log ends at %s", end)
	}
}

// What waits for a worker is shown, and what runs on the event loop never waits.
func TestRuntimeInfoShowsWhatWaits(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.routes = (&processor.RuntimeInfo{
		Stats: l.stats, Store: l.store, Wire: l.wire, DispatchBehind: func() int64 { return 77 },
		Waiting: func(class remoting.Class) int { return 10 * int(class) },
	}).Routes()
	table := l.runtime()
	for key, want := range map[string]string{
		"dispatchBehindBytes": "77", "pullThreadPoolQueueSize": "10", "queryThreadPoolQueueSize": "20", "sendThreadPoolQueueSize": "0",
		"litePullThreadPoolQueueSize": "0", "ackThreadPoolQueueSize": "0",
	} {
		if table[key] != want {
			t.Errorf("%s is %s, want %s", key, table[key], want)
		}
	}
}

func TestBrokerConfig(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	reply := request(t, l.routes, &conn{}, remoting.GetBrokerConfig, nil, "")
	wantReply(t, reply, remoting.SystemError, "")
	routes := (&processor.RuntimeInfo{
		Stats: l.stats, Store: l.store, Wire: l.wire,
		Config: func() (string, string) { return "brokerId=0\n", `{"counter":0}` },
	}).Routes()
	reply = request(t, routes, &conn{}, remoting.GetBrokerConfig, nil, "")
	wantReply(t, reply, remoting.Success, "")
	if string(reply.Body) != "brokerId=0\n" || field(reply, "version") != `{"counter":0}` {
		t.Errorf("body %q, version %s", reply.Body, field(reply, "version"))
	}
}
