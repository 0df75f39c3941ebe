package registration

import (
	"context"
	"io"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/sirupsen/logrus"
	"go.uber.org/goleak"

	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/internal/await"
	"github.com/wheelmq/wheelmq/internal/freeport"
	"github.com/wheelmq/wheelmq/namesrv"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/remoting/client"
	"github.com/wheelmq/wheelmq/remoting/fastjson"
	"github.com/wheelmq/wheelmq/server"
)

// gnet's worker pool is shared by the process and lives as long as it.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/panjf2000/ants/v2.(*poolCommon).purgeStaleWorkers"),
		goleak.IgnoreAnyFunction("github.com/panjf2000/ants/v2.(*poolCommon).ticktock"),
	)
}

const deadline = await.Patience

func quiet() logrus.FieldLogger {
	log := logrus.New()
	log.SetOutput(io.Discard)
	return log
}

func within(t *testing.T, what string, ok func() bool) {
	t.Helper()
	await.Until(t, what, ok)
}

// table is a topic table that tests change.
type table struct {
	mu      sync.Mutex
	version int64
	topics  map[string]remoting.TopicConfig
	tell    func(changed []*topic.Config, deleted []string)
}

func newTable(names ...string) *table {
	t := &table{topics: map[string]remoting.TopicConfig{}}
	for _, name := range names {
		t.topics[name] = remoting.TopicConfig{TopicName: name, Perm: 6, ReadQueueNums: 4, WriteQueueNums: 4}
	}
	return t
}

func (t *table) Wrapper() remoting.TopicConfigWrapper {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := remoting.TopicConfigWrapper{DataVersion: remoting.DataVersion{Counter: t.version}, TopicConfigTable: map[string]remoting.TopicConfig{}}
	maps.Copy(w.TopicConfigTable, t.topics)
	return w
}

func (t *table) OnChange(f func(changed []*topic.Config, deleted []string)) { t.tell = f }

func (t *table) add(name string) {
	config := topic.Config{TopicName: name, Perm: 6, ReadQueueNums: 1, WriteQueueNums: 1}
	t.mu.Lock()
	t.version++
	t.topics[name] = config
	t.mu.Unlock()
	t.tell([]*topic.Config{&config}, nil)
}

// nameServer is a real one behind a real socket, which records registrations.
type nameServer struct {
	t    *testing.T
	ns   *namesrv.Server
	sock *server.Server

	mu     sync.Mutex
	bodies [][]string // topics of each registration
	conn   remoting.Conn
}

func startNameServer(t *testing.T, addr string) *nameServer {
	t.Helper()
	set, err := difference.NewSet("")
	if err != nil {
		t.Fatal(err)
	}
	n := &nameServer{t: t, ns: namesrv.New(namesrv.Options{Wire: clock.Real{}, Log: quiet(), Differences: set})}
	n.ns.Start()
	record := func(ex *remoting.Exchange, route *remoting.Route) error {
		if route.Code != remoting.RegisterBroker {
			return nil
		}
		var body remoting.RegisterBrokerBody
		if err := fastjson.Unmarshal(ex.Req.Body, &body); err != nil {
			return err
		}
		var names []string
		for name := range body.TopicConfigSerializeWrapper.TopicConfigTable {
			names = append(names, name)
		}
		n.mu.Lock()
		n.bodies, n.conn = append(n.bodies, names), ex.Conn
		n.mu.Unlock()
		return nil
	}
	n.sock, err = server.New(server.Options{Addr: addr, OnClose: n.ns.ConnClosed, NumEventLoop: 1, Log: quiet(),
		Router: remoting.NewRouter(n.ns.Routes(), remoting.RouterOptions{Before: []remoting.Step{record}, Log: quiet()})})
	if err != nil {
		t.Fatal(err)
	}
	if err := n.sock.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.stop)
	return n
}

func (n *nameServer) addr() string { return n.sock.Addr().String() }

func (n *nameServer) stop() {
	if n.ns == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	if err := n.sock.Close(ctx); err != nil {
		n.t.Error(err)
	}
	if err := n.ns.Close(); err != nil {
		n.t.Error(err)
	}
	n.ns = nil
}

// registrations are the topics of each registration so far.
func (n *nameServer) registrations() [][]string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([][]string(nil), n.bodies...)
}

// broker is the connection of the last registration.
func (n *nameServer) broker() remoting.Conn {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.conn
}

func (n *nameServer) route(name string) string {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	c, err := client.Dial(ctx, n.addr())
	if err != nil {
		n.t.Fatal(err)
	}
	defer c.Close()
	var ext remoting.ExtWriter
	ext.String("topic", name)
	reply, err := c.Call(ctx, remoting.GetRouteInfoByTopic, &ext, nil)
	if err != nil {
		return ""
	}
	return string(reply.Body)
}

func startService(t *testing.T, opts Options) *Service {
	t.Helper()
	opts.Identity = remoting.BrokerIdentity{BrokerName: "broker-a", BrokerAddr: "10.9.9.9:10911", ClusterName: "C"}
	opts.BrokerPermission, opts.Log = func() int32 { return 6 }, quiet()
	if opts.Wire == nil {
		opts.Wire = clock.Real{}
	}
	s, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		select {
		case <-s.stop:
		default:
			if err := s.Close(context.Background()); err != nil {
				t.Error(err)
			}
		}
	})
	return s
}

func TestRegister_AddressIsTheOneReached_UnlessFixed(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		fixed bool
		want  string
	}{
		{"reached", false, `"127.0.0.1:10911"`},
		{"brokerIP1", true, `"10.9.9.9:10911"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			n := startNameServer(t, freeport.Addr(t))
			s := startService(t, Options{NameServers: n.addr(), FixedAddress: tc.fixed, Topics: newTable("T", "U")})
			within(t, "the route is there", func() bool { return strings.Contains(n.route("T"), tc.want) })
			if err := s.Close(context.Background()); err != nil {
				t.Fatal(err)
			}
			if got := n.route("T"); got != "" {
				t.Fatalf("still registered after Close: %s", got)
			}
		})
	}
}

func TestRegister_TopicChange_ToldAloneAndAtOnce(t *testing.T) {
	t.Parallel()
	n := startNameServer(t, freeport.Addr(t))
	topics := newTable("T", "U")
	// The clock stands still: no period passes.
	startService(t, Options{NameServers: n.addr(), Topics: topics, Wire: clock.NewVirtual(1000)})
	within(t, "the route is there", func() bool { return n.route("T") != "" })
	topics.add("V")
	within(t, "the new topic's route is there", func() bool { return n.route("V") != "" })
	got := n.registrations()
	if len(got) != 2 || len(got[0]) != 2 || len(got[1]) != 1 || got[1][0] != "V" {
		t.Fatalf("registrations %v", got)
	}
}

func TestRegister_Period_OnTheClockAndClamped(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ given, want int64 }{{0, 10_000}, {30_000, 30_000}, {90_000, 60_000}} {
		n := startNameServer(t, freeport.Addr(t))
		wire := clock.NewVirtual(1000)
		startService(t, Options{NameServers: n.addr(), Topics: newTable("T", "U"), Wire: wire, PeriodMs: tc.given})
		within(t, "the next period is awaited", func() bool { at, armed := wire.Next(); return armed && at == 1000+tc.want })
		wire.Set(1000 + tc.want)
		within(t, "registered again", func() bool { return len(n.registrations()) == 2 })
	}
}

func TestRegister_NameServerRestarts_RegisteredAnew(t *testing.T) {
	t.Parallel()
	n := startNameServer(t, freeport.Addr(t))
	addr := n.addr()
	checks := health.NewRegistry()
	startService(t, Options{NameServers: addr, Topics: newTable("T", "U"), Health: checks, PeriodMs: 60_000})
	within(t, "the route is there", func() bool { return n.route("T") != "" })
	if got := checks.Report(); got.State != health.Up {
		t.Fatalf("health %+v", got)
	}
	n.stop()
	within(t, "health names the lost name server", func() bool {
		got := checks.Report().Parts["registration"]
		return got.State == health.Degraded && strings.Contains(got.Reason, addr)
	})
	again := startNameServer(t, addr)
	within(t, "the route is back, long before the period ends", func() bool { return again.route("T") != "" })
	within(t, "health is up", func() bool { return checks.Report().State == health.Up })
}

// TestRegister_OnlyNameServer_DownWithoutIt: no client finds such a broker.
func TestRegister_OnlyNameServer_DownWithoutIt(t *testing.T) {
	t.Parallel()
	n := startNameServer(t, freeport.Addr(t))
	addr := n.addr()
	checks := health.NewRegistry()
	startService(t, Options{NameServers: addr, Topics: newTable("T", "U"), Health: checks, Only: true})
	within(t, "ready", func() bool { return checks.Ready().State == health.Up })
	n.stop()
	within(t, "not ready, with the reason", func() bool {
		got := checks.Ready().Parts["registration"]
		return got.State == health.Down && strings.Contains(got.Reason, "no client finds this broker: name server "+addr)
	})
	if got := checks.Live(); got.State != health.Up {
		t.Errorf("a restart does not help, and yet %+v", got)
	}
}

func TestRegister_OneNameServerDead_OthersServed(t *testing.T) {
	t.Parallel()
	dead := freeport.Addr(t)
	n := startNameServer(t, freeport.Addr(t))
	checks := health.NewRegistry()
	startService(t, Options{NameServers: dead + "; " + n.addr() + ";", Topics: newTable("T", "U"), Health: checks})
	within(t, "the route is there", func() bool { return n.route("T") != "" })
	within(t, "health names the dead one", func() bool {
		return strings.Contains(checks.Report().Parts["registration"].Reason, dead)
	})
}

func TestRegister_ForgottenByNameServer_PartRefused_AllTold(t *testing.T) {
	t.Parallel()
	n := startNameServer(t, freeport.Addr(t))
	topics := newTable("T", "U")
	startService(t, Options{NameServers: n.addr(), Topics: topics, Wire: clock.NewVirtual(1000)})
	within(t, "the route is there", func() bool { return n.route("T") != "" })
	// Our own connection vanishes from the table, as after an expiry.
	n.ns.ConnClosed(n.broker())
	topics.add("V")
	within(t, "all routes are there", func() bool { return n.route("V") != "" && n.route("T") != "" })
	if got := n.registrations(); len(got) != 3 || len(got[1]) != 1 || len(got[2]) != 3 {
		t.Fatalf("registrations %v", got)
	}
}

func TestNew_BadAddress_Refused(t *testing.T) {
	t.Parallel()
	if _, err := New(Options{NameServers: "127.0.0.1:9876;nowhere"}); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Fatalf("got %v", err)
	}
}
