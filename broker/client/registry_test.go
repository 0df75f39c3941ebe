package client_test

import (
	"bytes"
	"net/netip"
	"slices"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus/hooks/test"
	"go.uber.org/goleak"

	"github.com/wheelmq/wheelmq/broker/client"
	"github.com/wheelmq/wheelmq/broker/filter"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/internal/await"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// conn records the frames it is sent.
type conn struct {
	id uint64

	mu     sync.Mutex // guards frames and closed
	frames [][]byte
	closed bool
}

func (c *conn) ID() uint64                 { return c.id }
func (c *conn) RemoteAddr() netip.AddrPort { return netip.MustParseAddrPort("127.0.0.1:4000") }
func (c *conn) LocalAddr() netip.AddrPort  { return netip.MustParseAddrPort("127.0.0.1:10911") }
func (c *conn) Send(frame []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.frames = append(c.frames, frame)
	return nil
}
func (c *conn) SendParts([]byte, [][]byte, func()) error { return nil }
func (c *conn) Close(string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
}
func (c *conn) Closed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// notified returns how many notifications came since the last call.
func (c *conn) notified(t *testing.T, group string) int {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, frame := range c.frames {
		if !bytes.Contains(frame, []byte(group)) {
			t.Errorf("a notification for another group than %s: %s", group, frame)
		}
	}
	n := len(c.frames)
	c.frames = nil
	return n
}

func open(t testing.TB, wire clock.Clock) *client.Registry {
	t.Helper()
	log, _ := test.NewNullLogger()
	r, err := client.New(client.Options{Wire: wire, Log: log, Metrics: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	r.Start()
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func sub(topic, expr string, version int64) *client.Subscription {
	s := &client.Subscription{Topic: topic, Expression: expr, Version: version}
	s.Compile()
	return s
}

func beat(id string, subs ...*client.Subscription) *client.Beat {
	return &client.Beat{ClientID: id, Producers: []string{"p"}, Consumers: []client.Consumer{{
		Group: "g", ConsumeType: client.ConsumePassively, MessageModel: client.Clustering, Subscriptions: subs, Notify: true,
	}}}
}

func TestMembershipChangesNotifyEveryone(t *testing.T) {
	t.Parallel()
	r := open(t, clock.NewVirtual(0))
	a, b := &conn{id: 1}, &conn{id: 2}
	steps := []struct {
		name         string
		do           func()
		wantA, wantB int
		ids          []string
	}{
		{"a joins", func() { r.Heartbeat(a, beat("a", sub("T", "*", 1))) }, 1, 0, []string{"a"}},
		{"a again", func() { r.Heartbeat(a, beat("a", sub("T", "*", 1))) }, 0, 0, []string{"a"}},
		{"b joins", func() { r.Heartbeat(b, beat("b", sub("T", "*", 1))) }, 1, 1, []string{"a", "b"}},
		{"newer expression", func() { r.Heartbeat(b, beat("b", sub("T", "x", 2))) }, 0, 0, []string{"a", "b"}},
		{"another topic", func() { r.Heartbeat(b, beat("b", sub("T", "x", 2), sub("U", "*", 2))) }, 1, 1, []string{"a", "b"}},
		{"topic gone", func() { r.Heartbeat(a, beat("a", sub("T", "x", 2))) }, 1, 1, []string{"a", "b"}},
		{"b unregisters", func() { r.Unregister(b, "b", "", "g") }, 1, 0, []string{"a"}},
		{"b is back", func() { r.Heartbeat(b, beat("b", sub("T", "*", 3))) }, 1, 1, []string{"a", "b"}},
		{"a's connection closes", func() { r.ConnClosed(a) }, 0, 1, []string{"b"}},
		{"a second close", func() { r.ConnClosed(a) }, 0, 0, []string{"b"}},
	}
	for _, s := range steps {
		s.do()
		if got := a.notified(t, "g"); got != s.wantA {
			t.Errorf("%s: a is notified %d times, want %d", s.name, got, s.wantA)
		}
		if got := b.notified(t, "g"); got != s.wantB {
			t.Errorf("%s: b is notified %d times, want %d", s.name, got, s.wantB)
		}
		if got := r.Group([]byte("g")).ClientIDs(); !slices.Equal(got, s.ids) {
			t.Errorf("%s: members %v, want %v", s.name, got, s.ids)
		}
	}
	r.ConnClosed(b)
	if r.Group([]byte("g")) != nil || r.Producers("p") != nil {
		t.Error("a group without members is online")
	}
}

func TestWhoIsNotNotified(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*client.Consumer){
		"broadcast":      func(c *client.Consumer) { c.MessageModel = client.Broadcasting },
		"switched off":   func(c *client.Consumer) { c.Notify = false },
		"producers only": func(c *client.Consumer) { c.Group = "other" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := open(t, clock.NewVirtual(0))
			a, b := &conn{id: 1}, &conn{id: 2}
			first := beat("a", sub("T", "*", 1))
			first.Consumers[0].MessageModel = client.Broadcasting
			r.Heartbeat(a, first)
			second := beat("b", sub("T", "*", 1))
			change(&second.Consumers[0])
			r.Heartbeat(b, second)
			if got := a.notified(t, "g"); got != 0 {
				t.Errorf("a is notified %d times", got)
			}
		})
	}
}

func TestSubscriptionFollowsTheNewestVersion(t *testing.T) {
	t.Parallel()
	r := open(t, clock.NewVirtual(0))
	a, b := &conn{id: 1}, &conn{id: 2}
	r.Heartbeat(a, beat("a", sub("T", "new", 5)))
	r.Heartbeat(b, beat("b", sub("T", "old", 4)))
	s := r.Group([]byte("g")).Subscription([]byte("T"))
	if s == nil || s.Expression != "new" || s.Version != 5 {
		t.Fatalf("subscription %+v, want version 5", s)
	}
	if !s.Filter.Match(int64(filter.Hash("new"))) || s.Filter.Match(int64(filter.Hash("old"))) {
		t.Error("the filter is not that of the newest subscription")
	}
	if got := r.Groups("T"); !slices.Equal(got, []string{"g"}) {
		t.Errorf("groups of T: %v", got)
	}
}

func TestHeartbeatWithoutSubscriptions(t *testing.T) {
	t.Parallel()
	r := open(t, clock.NewVirtual(0))
	a := &conn{id: 1}
	lean := func() *client.Beat {
		h := beat("a")
		h.Fingerprint, h.WithoutSub = 77, true
		return h
	}
	if !r.Heartbeat(a, lean()) {
		t.Error("a lean heartbeat of an unknown group does not ask for the subscriptions")
	}
	full := beat("a", sub("T", "*", 1))
	full.Fingerprint = 77
	r.Heartbeat(a, full)
	if r.Heartbeat(a, lean()) {
		t.Error("a lean heartbeat with the known fingerprint asks for the subscriptions")
	}
	if r.Group([]byte("g")).Subscription([]byte("T")) == nil {
		t.Error("a lean heartbeat dropped the subscriptions")
	}
}

func TestSilentClientsAreClosed(t *testing.T) {
	t.Parallel()
	wire := clock.NewVirtual(0)
	r := open(t, wire)
	silent, alive := &conn{id: 1}, &conn{id: 2}
	r.Heartbeat(silent, beat("silent", sub("T", "*", 1)))
	r.Heartbeat(alive, beat("alive", sub("T", "*", 1)))
	wait(t, func() bool { _, armed := wire.Next(); return armed })
	wire.Set(100_000)
	r.Heartbeat(alive, beat("alive", sub("T", "*", 1)))
	alive.notified(t, "g")
	wire.Set(120_000)
	wait(t, silent.Closed)
	if alive.Closed() {
		t.Error("a live client is closed")
	}
	wait(t, func() bool { return alive.notified(t, "g") == 1 })
	if got := r.Group([]byte("g")).ClientIDs(); !slices.Equal(got, []string{"alive"}) {
		t.Errorf("members %v", got)
	}
}

func TestHeartbeatOfAClosedConnectionLeavesNothing(t *testing.T) {
	t.Parallel()
	r := open(t, clock.NewVirtual(0))
	c := &conn{id: 1, closed: true}
	r.Heartbeat(c, beat("a", sub("T", "*", 1)))
	if r.Group([]byte("g")) != nil || r.Producers("p") != nil {
		t.Error("a closed connection is a member")
	}
}

func wait(t *testing.T, cond func() bool) {
	t.Helper()
	await.Until(t, "the condition", cond)
}

func BenchmarkSubscription(b *testing.B) {
	r := open(b, clock.NewVirtual(0))
	r.Heartbeat(&conn{id: 1}, beat("a", sub("T", "x", 1)))
	group, topic := []byte("g"), []byte("T")
	b.ReportAllocs()
	for b.Loop() {
		if r.Group(group).Subscription(topic) == nil {
			b.Fatal("not subscribed")
		}
	}
}
