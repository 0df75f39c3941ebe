package processor_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/broker/client"
	"github.com/wheelmq/wheelmq/broker/pop"
	"github.com/wheelmq/wheelmq/broker/processor"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/remoting"
)

func TestConsumeStats(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.topics["U"] = plain("U", 1)
	if got := string(l.admin(remoting.GetConsumeStats, ext{"consumerGroup": "fresh"}).Body); got != `{"offsetTable":{},"consumeTps":0}` {
		t.Errorf("a group without progress: %s", got)
	}
	for range 3 {
		l.put("T", 0, "", "x")
	}
	l.put("U", 0, "", "x")
	l.offsets.Commit([]byte("g"), []byte("T"), 0, 2)
	l.offsets.Commit([]byte("g"), []byte("U"), 0, 1)
	l.pull(&conn{}, 2, nil)
	const rows = `{"brokerName":"broker-a","queueId":0,"topic":"T"}:{"brokerOffset":3,"consumerOffset":2,"lastTimestamp":1700000000000,"pullOffset":3},` +
		`{"brokerName":"broker-a","queueId":1,"topic":"T"}:{"brokerOffset":0,"consumerOffset":0,"lastTimestamp":0,"pullOffset":0}`
	if got := string(l.admin(remoting.GetConsumeStats, ext{"consumerGroup": "g", "topic": "T"}).Body); got != `{"offsetTable":{`+rows+`},"consumeTps":0}` {
		t.Errorf("progress in T: %s", got)
	}
	all := string(l.admin(remoting.GetConsumeStats, ext{"consumerGroup": "g"}).Body)
	if !strings.Contains(all, rows) || !strings.Contains(all, `"topic":"U"`) {
		t.Errorf("progress everywhere: %s", all)
	}
	l.join(client.Clustering, "T", "*", 1)
	if got := string(l.admin(remoting.GetConsumeStats, ext{"consumerGroup": "g"}).Body); strings.Contains(got, `"topic":"U"`) {
		t.Errorf("a topic that is no longer subscribed is in %s", got)
	}
}

func TestConsumeStatsOfAssignedQueues(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.put("T", 0, "", "x")
	l.offsets.Commit([]byte("g"), []byte("T"), 0, 1)
	l.clients.Heartbeat(&conn{id: 99}, &client.Beat{ClientID: "me", Version: remoting.Version, Consumers: []client.Consumer{{
		Group: "g", MessageModel: client.Clustering, Notify: true,
	}}})
	if got := string(l.admin(remoting.GetConsumeStats, ext{"consumerGroup": "g"}).Body); !strings.Contains(got, `"consumerOffset":1`) {
		t.Errorf("the progress of a member that names its queues is missing in %s", got)
	}
}

func TestConsumeStatsOfAList(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.topics["U"] = plain("U", 1)
	l.join(client.Clustering, "T", "*", 1)
	got := string(l.admin(remoting.GetConsumeStats, ext{"consumerGroup": "g", "topicList": "U; ;gone"}).Body)
	const want = `{"offsetTable":{{"brokerName":"broker-a","queueId":0,"topic":"U"}:` +
		`{"brokerOffset":0,"consumerOffset":0,"lastTimestamp":0,"pullOffset":0}},"consumeTps":0}`
	if got != want {
		t.Errorf("what is listed is answered whether subscribed or not: %s", got)
	}
}

func TestConsumeStatsOfTheBroker(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.groups["empty"] = group("empty")
	l.topics["U"] = plain("U", 1)
	l.topics["U"].Order = true
	for range 3 {
		l.put("T", 0, "", "x")
		l.put("U", 0, "", "x")
	}
	l.commit("g", "T", "1")
	l.offsets.Commit([]byte("g"), []byte("U"), 0, 2)
	l.pull(&conn{}, 1, nil)
	const head = `{"brokerAddr":"127.0.0.1:10911","consumeStatsList":[{"empty":[]},{"g":[`
	const t0 = `{"offsetTable":{{"brokerName":"broker-a","queueId":0,"topic":"T"}:{"brokerOffset":3,"consumerOffset":1,"lastTimestamp":1700000000000,"pullOffset":3},` +
		`{"brokerName":"broker-a","queueId":1,"topic":"T"}:{"brokerOffset":0,"consumerOffset":0,"lastTimestamp":0,"pullOffset":0}},"consumeTps":0}`
	const u0 = `{"offsetTable":{{"brokerName":"broker-a","queueId":0,"topic":"U"}:{"brokerOffset":3,"consumerOffset":2,"lastTimestamp":1700000000000,"pullOffset":2}},"consumeTps":0}`
	if got, want := string(l.admin(remoting.GetBrokerConsumeStats, ext{"isOrder": "false"}).Body), head+t0+","+u0+`]}],"totalDiff":3,"totalInflightDiff":2}`; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got, want := string(l.admin(remoting.GetBrokerConsumeStats, ext{"isOrder": "true"}).Body), head+u0+`]}],"totalDiff":1,"totalInflightDiff":0}`; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// popsOf are windows by their keys.
type popsOf map[pop.Key]pop.Info

func (w popsOf) WindowOf(k pop.Key) (pop.Info, bool) {
	i, ok := w[k]
	return i, ok
}

// TestConsumeStats_Waiting: who asks for it is told what pops have in flight and what is delayed.
func TestConsumeStats_Waiting(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.put("T", 0, "", "x")
	l.commit("g", "T", "1")
	differences, err := difference.NewSet("")
	if err != nil {
		t.Fatal(err)
	}
	stats := &processor.ConsumeStats{
		BrokerName: "broker-a", Clients: l.clients, Offsets: l.offsets, Topics: l.topics, Store: l.store, Stats: l.stats, Time: l.time, Differences: differences,
		Pops:    popsOf{{Group: "g", Topic: "T", QueueID: 0}: {InFlight: 3, InOrder: 1}},
		Delayed: func() map[string]int64 { return map[string]int64{"T": 2, "%RETRY%g": 1, "other": 5} },
	}
	const plain = `{"brokerOffset":1,"consumerOffset":1,"lastTimestamp":1700000000000,"pullOffset":1}`
	fields := ext{"consumerGroup": "g"}
	if got := string(request(t, stats.Routes(), &conn{}, remoting.GetConsumeStats, fields, "").Body); !strings.Contains(got, plain) || !strings.HasSuffix(got, `"consumeTps":0}`) {
		t.Errorf("not asked for: %s", got)
	}
	fields["showWaiting"] = "true"
	const shown = `{"brokerOffset":1,"consumerOffset":1,"lastTimestamp":1700000000000,"pullOffset":1,"popInFlight":3,"popInOrder":1}`
	got := string(request(t, stats.Routes(), &conn{}, remoting.GetConsumeStats, fields, "").Body)
	if !strings.Contains(got, shown) || !strings.HasSuffix(got, `"consumeTps":0,"delayTable":{"%RETRY%g":1,"T":2}}`) {
		t.Errorf("asked for: %s", got)
	}
}

func TestConsumeTimeSpan(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for range 3 {
		l.put("T", 0, "", "x")
		l.time.Set(l.time.NowMillis() + 1000)
	}
	span := func() map[string]any {
		t.Helper()
		var body struct{ ConsumeTimeSpanSet []map[string]any }
		if err := json.Unmarshal(l.admin(remoting.QueryConsumeTimeSpan, ext{"topic": "T", "group": "g"}).Body, &body); err != nil || len(body.ConsumeTimeSpanSet) != 2 {
			t.Fatal(body, err)
		}
		if empty := body.ConsumeTimeSpanSet[1]; empty["minTimeStamp"] != -1.0 || empty["maxTimeStamp"] != -1.0 || empty["consumeTimeStamp"] != -1.0 || empty["delayTime"] != 0.0 {
			t.Errorf("an empty queue: %v", empty)
		}
		return body.ConsumeTimeSpanSet[0]
	}
	want := func(consumed, delay float64) {
		t.Helper()
		got := span()
		if got["minTimeStamp"] != 1_700_000_000_000.0 || got["maxTimeStamp"] != 1_700_000_002_000.0 || got["consumeTimeStamp"] != consumed || got["delayTime"] != delay {
			t.Errorf("%v, want consumed at %v, %v behind", got, consumed, delay)
		}
		if text := time.UnixMilli(int64(consumed)).Format("2006-01-02#15:04:05") + ":000"; got["consumeTimeStampStr"] != text {
			t.Errorf("%v, want %s", got, text)
		}
	}
	want(1_700_000_000_000, 3000)
	l.commit("g", "T", "2")
	want(1_700_000_001_000, 1000)
	l.commit("g", "T", "3")
	want(1_700_000_002_000, 0)
	reply := request(t, l.routes, &conn{}, remoting.QueryConsumeTimeSpan, ext{"topic": "U", "group": "g"}, "")
	wantReply(t, reply, remoting.TopicNotExist, "topic[U] not exist")
}
