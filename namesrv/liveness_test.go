package namesrv

import (
	"testing"

	"github.com/wheelmq/wheelmq/remoting"
)

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

// TestHeartbeat: BROKER_HEARTBEAT (904) has a broker live on as a registration does.
func TestHeartbeat(t *testing.T) {
	t.Parallel()
	f := start(t, "", nil)
	p := f.dial("127.0.0.1")
	b := brokerA
	b.timeout = "10000"
	b.register(p)
	at := f.wire.NowMillis()
	f.wire.Set(at + 6000)
	p.must(remoting.BrokerHeartbeat, []string{"brokerName", b.name, "brokerAddr", b.addr}, nil)
	f.wire.Set(at + 10_000)
	within(t, "the renewed deadline is awaited", func() bool { next, armed := f.wire.Next(); return armed && next == at+16_000 })
	if _, ok := p.route("T"); !ok {
		t.Error("expired although its heartbeat came")
	}
	if got := p.call(remoting.BrokerHeartbeat, []string{"brokerName", b.name}, nil); got.Code != remoting.SystemError {
		t.Errorf("without its address: %d %q", got.Code, got.Remark)
	}
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
