package processor_test

import (
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

func TestTopicStatsHaveARowForEveryQueue(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.put("T", 1, "", "x")
	const want = `{"offsetTable":{{"brokerName":"broker-a","queueId":0,"topic":"T"}:{"lastUpdateTimestamp":0,"maxOffset":0,"minOffset":0},` +
		`{"brokerName":"broker-a","queueId":1,"topic":"T"}:{"lastUpdateTimestamp":1700000000000,"maxOffset":1,"minOffset":0}},"topicPutTps":0}`
	if got := string(l.admin(remoting.GetTopicStatsInfo, ext{"topic": "T"}).Body); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	wide := plain("wide", 8)
	wide.WriteQueueNums = 4
	l.topics["wide"], l.topics[message.TopicSchedule] = wide, plain(message.TopicSchedule, 18)
	for name, rows := range map[string]int{"wide": 8, message.TopicSchedule: 18} {
		body := string(l.admin(remoting.GetTopicStatsInfo, ext{"topic": name}).Body)
		if got := strings.Count(body, `"maxOffset":0,"minOffset":0`); got != rows {
			t.Errorf("%s has %d rows, want %d", name, got, rows)
		}
	}
	reply := request(t, l.routes, &conn{}, remoting.GetTopicStatsInfo, ext{"topic": "X"}, "")
	wantReply(t, reply, remoting.TopicNotExist, "topic[X] not exist")
}

func TestBrokerStats(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	fields := ext{"statsName": "TOPIC_PUT_NUMS", "statsKey": "T"}
	reply := request(t, l.routes, &conn{}, remoting.ViewBrokerStatsData, fields, "")
	wantReply(t, reply, remoting.SystemError, "The stats <TOPIC_PUT_NUMS> <T> not exist")
	l.stats.TopicCounters([]byte("T")).PutOK(6, 60)
	const want = `{"statsMinute":{"sum":0,"tps":0,"avgpt":0},"statsHour":{"sum":6,"tps":0.01,"avgpt":6},"statsDay":{"sum":6,"tps":0.0016666666666666668,"avgpt":6}}`
	if got := string(l.admin(remoting.ViewBrokerStatsData, fields).Body); got != want {
		t.Errorf("statistics %s", got)
	}
}
