package namesrv

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/remoting"
)

func itoa(n int) string { return strconv.Itoa(n) }

var brokerA = testBroker{name: "broker-a", addr: "127.0.0.9:10911", version: 1, topics: []string{"T"}}

const routeOfT = `{"brokerDatas":[{"brokerAddrs":{%s:"127.0.0.9:10911"},"brokerName":"broker-a","cluster":"C","enableActingMaster":false}],` +
	`"filterServerTable":{},"queueDatas":[{"brokerName":"broker-a","perm":6,"readQueueNums":4,"topicSysFlag":0,"writeQueueNums":4}]}`

func TestRoute_DialectFollowsClient(t *testing.T) {
	t.Parallel()
	f := start(t, "", nil)
	brokerA.register(f.dial("127.0.0.1"))
	cases := []struct {
		name    string
		version int32
		extra   []string
		key     string
	}{
		{"5.5.0", 513, nil, `"0"`},
		{"4.9.4", 401, nil, `"0"`},
		{"4.9.3", 399, nil, "0"},
		{"no version", 0, nil, "0"},
		{"old, asks for the standard", 317, []string{"acceptStandardJsonOnly", "true"}, `"0"`},
	}
	p := f.dial("127.0.0.1")
	for _, tc := range cases {
		reply := p.callAs(tc.version, remoting.GetRouteInfoByTopic, append([]string{"topic", "T"}, tc.extra...), nil)
		if want := fmt.Sprintf(routeOfT, tc.key); string(reply.Body) != want {
			t.Errorf("%s:\n got %s\nwant %s", tc.name, reply.Body, want)
		}
	}
}

func TestRoute_Unknown_17WithHint(t *testing.T) {
	t.Parallel()
	reply := start(t, "", nil).dial("127.0.0.1").call(remoting.GetRouteInfoByTopic, []string{"topic", "GT_Nope"}, nil)
	const want = "No topic route info in name server for the topic: GT_Nope\nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details."
	if reply.Code != 17 || reply.Remark != want {
		t.Fatalf("got %d %q", reply.Code, reply.Remark)
	}
}

func TestRegister_RefusesBrokenRegistrations(t *testing.T) {
	t.Parallel()
	f := start(t, "", nil)
	p := f.dial("127.0.0.1")
	cases := []struct {
		name, remark string
		fields       []string
		body         string
	}{
		{"wrong checksum", "crc32 not match", append(brokerA.identity(), "haServerAddr", "h", "bodyCrc32", "1"), `{}`},
		{"one topic of an unknown broker", "register broker failed", append(brokerA.identity(), "haServerAddr", "h"),
			`{"topicConfigSerializeWrapper":{"topicConfigTable":{"T":{"topicName":"T","perm":6}}}}`},
		{"no cluster", "the custom field <clusterName> is null", []string{"brokerName", "b", "brokerAddr", "a", "brokerId", "0"}, ``},
		{"not JSON", "register broker failed", append(brokerA.identity(), "haServerAddr", "h"), `{{`},
		{"not zlib", "register broker failed", append(brokerA.identity(), "haServerAddr", "h", "compressed", "true"), `{}`},
	}
	for _, tc := range cases {
		reply := p.call(remoting.RegisterBroker, tc.fields, []byte(tc.body))
		if reply.Code != remoting.SystemError || !strings.HasPrefix(reply.Remark, tc.remark) {
			t.Errorf("%s: got %d %q, want 1 %q", tc.name, reply.Code, reply.Remark, tc.remark)
		}
	}
	if body := p.must(remoting.GetBrokerClusterInfo, nil, nil).Body; string(body) != `{"brokerAddrTable":{},"clusterAddrTable":{}}` {
		t.Errorf("a refused broker is listed: %s", body)
	}
}

func TestRegister_CompressedBody(t *testing.T) {
	t.Parallel()
	var plain, body bytes.Buffer
	blob := func(s string) {
		_ = binary.Write(&plain, binary.BigEndian, int32(len(s)))
		plain.WriteString(s)
	}
	blob(`{"counter":3,"stateVersion":0,"timestamp":7}`)
	_ = binary.Write(&plain, binary.BigEndian, int32(2))
	blob(`T 4 4 6 SINGLE_TAG {"a":"b c"}`)
	blob(`TBW102 8 8 7 SINGLE_TAG`)
	blob(`[]`)
	z := zlib.NewWriter(&body)
	_, _ = z.Write(plain.Bytes())
	_ = z.Close()
	p := start(t, "", nil).dial("127.0.0.1")
	p.must(remoting.RegisterBroker, append(brokerA.identity(), "haServerAddr", "h", "compressed", "true"), body.Bytes())
	if got, _ := p.route("T"); got != fmt.Sprintf(routeOfT, `"0"`) {
		t.Fatalf("got %s", got)
	}
}

func TestRegister_Slave_ToldItsMaster(t *testing.T) {
	t.Parallel()
	f := start(t, "", nil)
	master := f.dial("127.0.0.1")
	slave := brokerA
	slave.id, slave.addr, slave.topics = "1", "127.0.0.8:10911", []string{"OfSlaveOnly"}
	brokerA.register(master)
	reply := slave.register(f.dial("127.0.0.1"))
	addr, _ := reply.Ext.Get("masterAddr")
	ha, _ := reply.Ext.Get("haServerAddr")
	if string(addr) != brokerA.addr || string(ha) != "10.0.0.1:10912" {
		t.Errorf("master %q, HA %q", addr, ha)
	}
	if _, ok := master.route("OfSlaveOnly"); ok {
		t.Error("a slave's topics count beside its master")
	}
	if got, _ := master.route("T"); !strings.Contains(got, `{"0":"127.0.0.9:10911","1":"127.0.0.8:10911"}`) {
		t.Errorf("route %s", got)
	}
}
