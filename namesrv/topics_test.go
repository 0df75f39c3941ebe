package namesrv

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/remoting"
)

func TestWritePerm_OutlivesRenewal(t *testing.T) {
	t.Parallel()
	p := start(t, "", nil).dial("127.0.0.1")
	brokerA.register(p)
	count := func(code int32, field, broker string) string {
		v, _ := p.must(code, []string{"brokerName", broker}, nil).Ext.Get(field)
		return string(v)
	}
	perm := func(topic string, want int) {
		t.Helper()
		if got, _ := p.route(topic); !strings.Contains(got, fmt.Sprintf(`"perm":%d,`, want)) {
			t.Errorf("%s: %s, want perm %d", topic, got, want)
		}
	}
	if got := count(remoting.WipeWritePermOfBroker, "wipeTopicCount", "nope"); got != "0" {
		t.Errorf("unknown broker: %s", got)
	}
	if got := count(remoting.WipeWritePermOfBroker, "wipeTopicCount", "broker-a"); got != "2" {
		t.Errorf("wiped %s", got)
	}
	perm("T", 4)
	brokerA.register(p)
	perm("T", 4)
	if got := count(remoting.AddWritePermOfBroker, "addTopicCount", "broker-a"); got != "2" {
		t.Errorf("added %s", got)
	}
	perm("T", 6)
	perm("TBW102", 6)
	newer := brokerA
	newer.version = 2
	newer.register(p)
	perm("TBW102", 7)
}

func TestLists(t *testing.T) {
	t.Parallel()
	p := start(t, "", nil).dial("127.0.0.1")
	brokerA.register(p)
	cases := []struct {
		name   string
		code   int32
		fields []string
		want   string
	}{
		{"all topics", 206, nil, `{"topicList":["T","TBW102"]}`},
		{"of the cluster", 224, []string{"cluster", "C"}, `{"topicList":["T","TBW102"]}`},
		{"of an unknown cluster", 224, []string{"cluster", "X"}, `{"topicList":[]}`},
		{"system", 304, nil, `{"brokerAddr":"127.0.0.9:10911","topicList":["C","broker-a"]}`},
		{"unit", 311, nil, `{"topicList":[]}`},
		{"unit sub", 312, nil, `{"topicList":[]}`},
		{"unit sub, not unit", 313, nil, `{"topicList":[]}`},
		{"members", 901, []string{"clusterName", "C", "brokerName", "broker-a"},
			`{"brokerMemberGroup":{"brokerAddrs":{"0":"127.0.0.9:10911"},"brokerName":"broker-a","cluster":"C"}}`},
		{"cluster", 106, nil, `{"brokerAddrTable":{"broker-a":{"brokerAddrs":{"0":"127.0.0.9:10911"},"brokerName":"broker-a","cluster":"C","enableActingMaster":false}},"clusterAddrTable":{"C":["broker-a"]}}`},
	}
	for _, tc := range cases {
		if got := p.must(tc.code, tc.fields, nil).Body; string(got) != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.name, got, tc.want)
		}
	}
	p.must(217, []string{"topic", "Z"}, []byte(`{"queueDatas":[{"brokerName":"broker-a","perm":6,"readQueueNums":1,"writeQueueNums":1,"topicSysFlag":3},{"brokerName":"gone","perm":6}]}`))
	if got := p.must(311, nil, nil).Body; string(got) != `{"topicList":["Z"]}` {
		t.Errorf("after REGISTER_TOPIC_IN_NAMESRV: %s", got)
	}
	p.must(remoting.DeleteTopicInNamesrv, []string{"topic", "Z", "clusterName", "X"}, nil)
	if _, ok := p.route("Z"); !ok {
		t.Error("deleted in a cluster that it is not in")
	}
	p.must(remoting.DeleteTopicInNamesrv, []string{"topic", "Z"}, nil)
	if _, ok := p.route("Z"); ok {
		t.Error("still routed after its deletion")
	}
}
