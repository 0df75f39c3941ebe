package processor_test

import (
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/broker/client"
	"github.com/wheelmq/wheelmq/remoting"
)

func (l *lab) admin(code int32, fields ext) *remoting.Command {
	l.t.Helper()
	reply := request(l.t, l.routes, &conn{}, code, fields, "")
	wantReply(l.t, reply, remoting.Success, "")
	return reply
}

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

func TestWhoConsumesATopic(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.offsets.Commit([]byte("offline"), []byte("T"), 0, 2)
	l.offsets.Commit([]byte("g"), []byte("T"), 0, 2)
	l.join(client.Clustering, "T", "*", 1)
	if got := string(l.admin(remoting.QueryTopicConsumeByWho, ext{"topic": "T"}).Body); got != `{"groupList":["g","offline"]}` {
		t.Errorf("groups %s", got)
	}
	if got := string(l.admin(remoting.QueryTopicConsumeByWho, ext{"topic": "unknown"}).Body); got != `{"groupList":[]}` {
		t.Errorf("groups of an unknown topic %s", got)
	}
	if got := string(l.admin(343, ext{"group": "offline"}).Body); got != `{"topicList":["T"]}` {
		t.Errorf("topics %s", got)
	}
}
