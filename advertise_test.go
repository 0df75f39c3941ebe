package wheelmq

import (
	"net/netip"
	"strings"
	"testing"
)

func TestAdvertise(t *testing.T) {
	t.Parallel()
	a, err := parseAdvertise("172.17.0.0/16=broker:10911; 127.0.0.1=localhost:20911;mq.example.org:31011")
	if err != nil {
		t.Fatal(err)
	}
	for client, want := range map[string]string{
		"172.17.3.4": "broker:10911", "::ffff:172.17.3.4": "broker:10911", "127.0.0.1": "localhost:20911", "192.0.2.7": "mq.example.org:31011", "2001:db8::1": "mq.example.org:31011",
	} {
		if got := a.to(netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr(client)); got != want {
			t.Errorf("a client at %s is told %s, want %s", client, got, want)
		}
	}
	if got := a.to(netip.MustParseAddr("172.17.0.2"), netip.MustParseAddr("192.0.2.7")); got != "broker:10911" {
		t.Errorf("a client that reached 172.17.0.2 is told %s", got)
	}
	if a, err := parseAdvertise(""); err != nil || a.to(netip.IPv6Loopback(), netip.IPv6Loopback()) != "" {
		t.Errorf("nothing: %+v, %v", a, err)
	}
	for _, bad := range []string{"host", "host:0", "host:70000", ":10911", "net=host:1", "10.0.0.0/99=host:1", "10.0.0.1=host"} {
		if _, err := parseAdvertise(bad); err == nil || !strings.Contains(err.Error(), "advertise=") {
			t.Errorf("%q: %v, want an error that names the key", bad, err)
		}
	}
}
