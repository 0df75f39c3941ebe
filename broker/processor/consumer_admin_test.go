package processor_test

import (
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

func TestProducersAndSubscriptions(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	if got := string(l.admin(remoting.GetAllProducerInfo, nil).Body); got != `{"data":{}}` {
		t.Errorf("producers %s", got)
	}
	l.clients.Heartbeat(&conn{id: 5}, &client.Beat{ClientID: "p", Version: 513, Language: remoting.LanguageGo, Producers: []string{"P"}})
	const want = `{"data":{"P":[{"clientId":"p","language":"GO","lastUpdateTimestamp":1000000,"remoteIP":"/127.0.0.1:4000","version":513}]}}`
	if got := string(l.admin(remoting.GetAllProducerInfo, nil).Body); got != want {
		t.Errorf("producers %s", got)
	}
	query := func(topic string) string {
		return string(l.admin(remoting.QuerySubscriptionByConsumer, ext{"group": "g", "topic": topic}).Body)
	}
	if got := query("T"); got != `{"group":"g","topic":"T"}` {
		t.Errorf("offline %s", got)
	}
	l.join(client.Clustering, "T", "a", 7)
	const subscribed = `{"group":"g","subscriptionData":{"classFilterMode":false,"codeSet":[],"expressionType":"",` +
		`"subString":"a","subVersion":7,"tagsSet":[],"topic":"T"},"topic":"T"}`
	if got := query("T"); got != subscribed {
		t.Errorf("online %s", got)
	}
	if got := query("U"); got != `{"group":"g","topic":"U"}` {
		t.Errorf("another topic %s", got)
	}
}
