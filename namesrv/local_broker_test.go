package namesrv

import (
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wheelmq/wheelmq/remoting"
)

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
