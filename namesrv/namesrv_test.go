package namesrv

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/store/region"
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

func TestLiveness_ExpiresAtItsDeadline(t *testing.T) {
	t.Parallel()
	f := start(t, "", nil)
	broker, client := f.dial("127.0.0.1"), f.dial("127.0.0.1")
	b := brokerA
	b.timeout = "10000"
	b.register(broker)
	at := f.wire.NowMillis()
	// The watcher has armed its timer for the deadline, not for a period.
	within(t, "the deadline is awaited", func() bool { next, armed := f.wire.Next(); return armed && next == at+10_000 })
	f.wire.Set(at + 6000)
	broker.must(remoting.QueryDataVersion, b.identity(), []byte(`{"counter":1,"stateVersion":0,"timestamp":7}`))
	f.wire.Set(at + 10_000)
	within(t, "the renewed deadline is awaited", func() bool { next, armed := f.wire.Next(); return armed && next == at+16_000 })
	if _, ok := client.route("T"); !ok {
		t.Fatal("expired although renewed")
	}
	f.wire.Set(at + 16_000)
	within(t, "the route is gone", func() bool { _, ok := client.route("T"); return !ok })
}

func TestConnClosed_RouteGoneAtOnce_UnlessRegisteredAnew(t *testing.T) {
	t.Parallel()
	f := start(t, "", nil)
	client := f.dial("127.0.0.1")
	first, second := f.dial("127.0.0.1"), f.dial("127.0.0.1")
	other := testBroker{name: "broker-b", addr: "127.0.0.7:10911", topics: []string{"U"}}
	brokerA.register(first)
	other.register(first)
	brokerA.register(second)
	_ = first.conn.Close()
	within(t, "the other broker of the closed connection is gone", func() bool { _, ok := client.route("U"); return !ok })
	if _, ok := client.route("T"); !ok {
		t.Fatal("the fresh registration went with the old connection")
	}
	_ = second.conn.Close()
	within(t, "the route is gone", func() bool { _, ok := client.route("T"); return !ok })
}

func TestUnregister_LateFarewell_KeepsFreshRegistration(t *testing.T) {
	t.Parallel()
	f := start(t, "", nil)
	old, fresh := f.dial("127.0.0.1"), f.dial("127.0.0.1")
	brokerA.register(old)
	brokerA.register(fresh)
	old.must(remoting.UnregisterBroker, brokerA.identity(), nil)
	if _, ok := fresh.route("T"); !ok {
		t.Fatal("the fresh registration is gone")
	}
	fresh.must(remoting.UnregisterBroker, brokerA.identity(), nil)
	if _, ok := fresh.route("T"); ok {
		t.Fatal("still routed after its own farewell")
	}
}

func TestDataVersion(t *testing.T) {
	t.Parallel()
	p := start(t, "", nil).dial("127.0.0.1")
	ask := func(version string) (changed, body string) {
		reply := p.must(remoting.QueryDataVersion, brokerA.identity(), []byte(version))
		v, _ := reply.Ext.Get("changed")
		return string(v), string(reply.Body)
	}
	const same = `{"counter":1,"stateVersion":0,"timestamp":7}`
	if changed, body := ask(same); changed != "true" || body != "" {
		t.Errorf("unknown broker: %s %s", changed, body)
	}
	brokerA.register(p)
	if changed, body := ask(same); changed != "false" || body != same {
		t.Errorf("same version: %s %s", changed, body)
	}
	if changed, _ := ask(`{"counter":2,"stateVersion":0,"timestamp":7}`); changed != "true" {
		t.Errorf("newer version: %s", changed)
	}
}

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

func TestKVConfig_SurvivesRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "namesrv", "kvConfig.json")
	open := func(ns *Server) {
		if err := ns.OpenKVConfig(region.OS{Root: dir}, "namesrv/kvConfig.json"); err != nil {
			t.Fatal(err)
		}
	}
	p := start(t, "", open).dial("127.0.0.1")
	if got := p.call(remoting.GetKVListByNamespace, []string{"namespace", "N"}, nil); got.Code != remoting.QueryNotFound {
		t.Errorf("list of nothing: %d", got.Code)
	}
	p.must(remoting.PutKVConfig, []string{"namespace", "N", "key", "k", "value", "v \"ü\""}, nil)
	p.must(remoting.PutKVConfig, []string{"namespace", "N", "key", "gone", "value", "x"}, nil)
	p.must(remoting.DeleteKVConfig, []string{"namespace", "N", "key", "gone"}, nil)

	p = start(t, "", open).dial("127.0.0.1")
	v, _ := p.must(remoting.GetKVConfig, []string{"namespace", "N", "key", "k"}, nil).Ext.Get("value")
	if string(v) != `v "ü"` {
		t.Errorf("got %q", v)
	}
	if got := p.must(remoting.GetKVListByNamespace, []string{"namespace", "N"}, nil).Body; string(got) != `{"table":{"k":"v \"ü\""}}` {
		t.Errorf("list %s", got)
	}
	got := p.call(remoting.GetKVConfig, []string{"namespace", "N", "key", "gone"}, nil)
	if got.Code != remoting.QueryNotFound || got.Remark != "No config item, Namespace: N Key: gone" {
		t.Errorf("deleted key: %d %q", got.Code, got.Remark)
	}

	if err := os.WriteFile(path, []byte("\x00\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	p = start(t, "", open).dial("127.0.0.1")
	if got := p.call(remoting.GetKVConfig, []string{"namespace", "N", "key", "k"}, nil); got.Code != remoting.QueryNotFound {
		t.Errorf("after damage the key is answered with %d", got.Code)
	}
	if _, err := os.Stat(path + ".damaged"); err != nil {
		t.Error(err)
	}
}

func TestConfig_OrderedTopics(t *testing.T) {
	t.Parallel()
	p := start(t, "", nil).dial("127.0.0.1")
	p.must(remoting.PutKVConfig, []string{"namespace", orderNamespace, "key", "T", "value", "broker-a:2"}, nil)
	if got := brokerA.register(p).Body; string(got) != `{"table":{"T":"broker-a:2"}}` {
		t.Errorf("registration answered %s", got)
	}
	if got, _ := p.route("T"); strings.Contains(got, "orderTopicConf") {
		t.Errorf("order configuration although it is off: %s", got)
	}
	got := p.call(remoting.UpdateNamesrvConfig, nil, []byte("orderMessageEnable=true\nkvConfigPath=/x\n"))
	if got.Code != remoting.NoPermission || got.Remark != "Can not update config in black list." {
		t.Errorf("black list: %d %q", got.Code, got.Remark)
	}
	for body, want := range map[string]string{
		"orderMessageEnable=true\nnoSuchKey=1\n": "nothing is changed: noSuchKey is unknown",
		"orderMessageEnable=perhaps":             `nothing is changed: orderMessageEnable="perhaps": want true or false`,
		"scanNotActiveBrokerInterval=1":          "nothing is changed: scanNotActiveBrokerInterval has no effect on this server",
	} {
		if got := p.call(remoting.UpdateNamesrvConfig, nil, []byte(body)); got.Code != remoting.InvalidParameter || got.Remark != want {
			t.Errorf("%q: %d %q, want 29 %q", body, got.Code, got.Remark, want)
		}
	}
	p.must(remoting.UpdateNamesrvConfig, nil, []byte("orderMessageEnable=true\nenableAllTopicList = false\nscanNotActiveBrokerInterval=5000\n"))
	if got, _ := p.route("T"); !strings.Contains(got, `"orderTopicConf":"broker-a:2"`) {
		t.Errorf("no order configuration: %s", got)
	}
	if got := p.call(206, nil, nil); got.Code != remoting.SystemError || got.Remark != "disable" {
		t.Errorf("topic list: %d %q", got.Code, got.Remark)
	}
	text := string(p.must(remoting.GetNamesrvConfig, nil, nil).Body)
	if !strings.Contains(text, "\norderMessageEnable=true\n") || strings.Contains(text, "noSuchKey") {
		t.Errorf("configuration:\n%s", text)
	}
}

func localBroker(port uint16) Registration {
	return Registration{
		BrokerIdentity: remoting.BrokerIdentity{BrokerName: "local", BrokerAddr: "10.1.2.3:10911", ClusterName: "C"},
		LocalPort:      port, Topics: testBroker{topics: []string{"T"}}.wrapper(),
	}
}

func TestLocalBroker_AdvertisedAsReached(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, profile, reach, want string
		port                       uint16
	}{
		{"through loopback", "", "127.0.0.1", "127.0.0.1:10911", 10911},
		{"through another address", "", "127.0.0.2", "127.0.0.2:10911", 10911},
		{"brokerIP1 is configured", "", "127.0.0.2", "10.1.2.3:10911", 0},
		{"as the real one", "5.5.0", "127.0.0.2", "10.1.2.3:10911", 10911},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			f := start(t, tc.profile, nil)
			f.ns.RegisterLocal(localBroker(tc.port))
			p := f.dial(tc.reach)
			for _, code := range []int32{105, 106, 901, 304} {
				body := string(p.must(code, []string{"topic", "T", "clusterName", "C", "brokerName", "local"}, nil).Body)
				if !strings.Contains(body, `"`+tc.want+`"`) {
					t.Errorf("request %d: %s, want %s", code, body, tc.want)
				}
			}
			used := f.set.Used()["advertise-reached-address"] > 0
			if want := tc.want != "10.1.2.3:10911"; used != want {
				t.Errorf("difference used %v, want %v", used, want)
			}
			f.wire.Set(f.wire.NowMillis() + 1_000_000)
			if _, ok := p.route("T"); !ok {
				t.Error("the local broker expired")
			}
			f.ns.UnregisterLocal(localBroker(0).BrokerIdentity)
			if _, ok := p.route("T"); ok {
				t.Error("still routed after UnregisterLocal")
			}
		})
	}
}

// TestLocalBroker_AdvertisedTo: a configured address comes before the one that was reached, where there
// is one for the client.
func TestLocalBroker_AdvertisedTo(t *testing.T) {
	t.Parallel()
	f := start(t, "", nil)
	r := localBroker(20911)
	var told atomic.Value
	told.Store("mapped.example.org:31011")
	r.AdvertisedTo = func(reached, client netip.Addr) string {
		if !reached.IsLoopback() || !client.IsLoopback() {
			t.Errorf("reached %s, client %s", reached, client)
		}
		return told.Load().(string)
	}
	f.ns.RegisterLocal(r)
	p := f.dial("127.0.0.1")
	if body, _ := p.route("T"); !strings.Contains(body, `"mapped.example.org:31011"`) {
		t.Errorf("route %s", body)
	}
	told.Store("")
	if body, _ := p.route("T"); !strings.Contains(body, `"127.0.0.1:20911"`) {
		t.Errorf("route %s, want the address that was reached", body)
	}
}

func TestRoute_RetryTopic_EnsuredAtFirstQuery(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, profile, topic string
		allow, want          bool
	}{
		{"created", "", "%RETRY%G", true, true},
		{"refused by the broker", "", "%RETRY%G", false, false},
		{"not a retry topic", "", "G", true, false},
		{"no group", "", "%RETRY%", true, false},
		{"as the real one", "5.5.0", "%RETRY%G", true, false},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			f := start(t, tc.profile, func(ns *Server) {
				ns.SetTopicEnsurer(func(topic string) bool {
					if !tc.allow {
						return false
					}
					r := localBroker(10911)
					r.Topics = testBroker{version: 2, topics: []string{topic}}.wrapper()
					ns.RegisterLocal(r)
					return true
				})
			})
			f.ns.RegisterLocal(localBroker(10911))
			if _, ok := f.dial("127.0.0.1").route(tc.topic); ok != tc.want {
				t.Errorf("routed %v, want %v", ok, tc.want)
			}
		})
	}
}
