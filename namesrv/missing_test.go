package namesrv

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wheelmq/wheelmq/remoting"
)

// A test that wants the broker of this process to be missing sees the answers of a name server
// to which it never registered; other brokers stay.
func TestMissing(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		missing func(topic string) bool
		asked   []string
		topic   string // of the route
		routed  bool   // by the local broker
		listed  bool
	}{
		"everywhere":      {func(string) bool { return true }, []string{"T", "", "", ""}, "T", false, false},
		"for a topic":     {func(topic string) bool { return topic == "T" }, []string{"T", "", "", ""}, "T", false, true},
		"for another":     {func(topic string) bool { return topic == "U" }, []string{"T", "", "", ""}, "T", true, true},
		"not its topic":   {func(string) bool { return true }, []string{"", "", ""}, "foreign", false, false},
		"no topic at all": {func(string) bool { return true }, []string{"", "", ""}, "none", false, false},
		"nothing missing": {func(string) bool { return false }, []string{"T", "", "", ""}, "T", true, true},
		"nobody is asked": {nil, nil, "T", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex // guards asked
			var asked []string
			f := start(t, "", func(ns *Server) {
				if tc.missing != nil {
					ns.opts.Missing = func(topic string) bool {
						mu.Lock()
						defer mu.Unlock()
						asked = append(asked, topic)
						return tc.missing(topic)
					}
				}
			})
			f.ns.RegisterLocal(localBroker(10911))
			foreign := brokerA
			foreign.topics = []string{"foreign", "T2"}
			foreign.register(f.dial("127.0.0.1"))
			p := f.dial("127.0.0.1")
			reply := p.call(remoting.GetRouteInfoByTopic, []string{"topic", tc.topic}, nil)
			if got := strings.Contains(string(reply.Body), "local"); got != tc.routed {
				t.Errorf("route: code %d, %s", reply.Code, reply.Body)
			}
			if want := tc.routed || tc.topic == "foreign"; (reply.Code == 0) != want {
				t.Errorf("route: code %d", reply.Code)
			}
			for code, mark := range map[int32]string{106: `"local"`, 901: "127.0.0.1:10911", 304: `"local"`} {
				body := string(p.must(code, []string{"clusterName", "C", "brokerName", "local"}, nil).Body)
				if strings.Contains(body, mark) != tc.listed {
					t.Errorf("request %d: %s", code, body)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			if !slices.Equal(asked, tc.asked) {
				t.Errorf("asked about %q, want %q", asked, tc.asked)
			}
		})
	}
}
