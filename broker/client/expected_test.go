package client_test

import (
	"slices"
	"testing"

	"github.com/sirupsen/logrus/hooks/test"

	"github.com/wheelmq/wheelmq/broker/client"
	"github.com/wheelmq/wheelmq/broker/persist"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/store/region"
)

// restarts is a registry over its restarts.
type restarts struct {
	*client.Registry
	t    *testing.T
	wire *clock.Virtual
	dir  persist.Dir
}

func newRestarts(t *testing.T) *restarts {
	t.Helper()
	r := &restarts{t: t, wire: clock.NewVirtual(1_000_000), dir: persist.In(region.NewMemory(), "config")}
	r.begin()
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func (r *restarts) begin() {
	r.t.Helper()
	log, _ := test.NewNullLogger()
	var err error
	if r.Registry, err = client.New(client.Options{Wire: r.wire, Log: log, Config: r.dir}); err != nil {
		r.t.Fatal(err)
	}
	r.Start()
}

// restart stops as the broker does: connections end after the stop has begun.
func (r *restarts) restart(downMs int64, conns ...*conn) {
	r.t.Helper()
	r.Leave()
	for _, c := range conns {
		r.ConnClosed(c)
	}
	r.end(downMs)
}

func (r *restarts) end(downMs int64) {
	r.t.Helper()
	if err := r.Close(); err != nil {
		r.t.Fatal(err)
	}
	r.wire.Set(r.wire.NowMillis() + downMs)
	r.begin()
}

func (r *restarts) want(when string, expected bool, ids ...string) {
	r.t.Helper()
	got, more := r.ClientIDs([]byte("g"), true)
	if !slices.Equal(got, ids) || more != expected {
		r.t.Errorf("%s: members %v, expected %v; want %v, %v", when, got, more, ids, expected)
	}
}

func TestMembersOverRestart(t *testing.T) {
	t.Parallel()
	r := newRestarts(t)
	a, b, c := &conn{id: 1}, &conn{id: 2}, &conn{id: 3}
	for id, conn := range map[string]*conn{"a": a, "b": b, "c": c} {
		r.Heartbeat(conn, beat(id, sub("T", "*", 1)))
	}
	a.notified(t, "g")
	b.notified(t, "g")
	r.restart(100, a, b, c)
	if n := a.notified(t, "g") + b.notified(t, "g"); n > 0 {
		t.Errorf("members are told %d times that others leave, which the stop makes them do", n)
	}
	r.want("after the restart", true, "a", "b", "c")
	if ids, _ := r.ClientIDs([]byte("g"), false); len(ids) > 0 || r.Group([]byte("g")) != nil {
		t.Errorf("online are %v, want nobody", ids)
	}
	r.Heartbeat(a, beat("a", sub("T", "*", 1)))
	r.want("a is back", true, "a", "b", "c")
	a.notified(t, "g")
	r.Unregister(&conn{id: 9}, "c", "", "g")
	r.want("c ends before a heartbeat", true, "a", "b")
	if n := a.notified(t, "g"); n != 1 {
		t.Errorf("a is told %d times that c has left, want once", n)
	}
	wait(t, func() bool { _, armed := r.wire.Next(); return armed })
	r.wire.Set(r.wire.NowMillis() + 34_999)
	r.want("before the time of b is over", true, "a", "b")
	r.wire.Set(r.wire.NowMillis() + 1)
	wait(t, func() bool { return a.notified(t, "g") == 1 })
	r.want("b has not come", false, "a")
}

func TestMembersOverTwoRestarts(t *testing.T) {
	t.Parallel()
	r := newRestarts(t)
	a, b := &conn{id: 1}, &conn{id: 2}
	r.Heartbeat(a, beat("a", sub("T", "*", 1)))
	r.Heartbeat(b, beat("b", sub("T", "*", 1)))
	r.restart(100, a, b)
	r.Heartbeat(a, beat("a", sub("T", "*", 1)))
	r.restart(100, a)
	r.want("after the second restart", true, "a", "b")
	r.Heartbeat(a, beat("a", sub("T", "*", 1)))
	r.Heartbeat(b, beat("b", sub("T", "*", 1)))
	r.want("both are back", false, "a", "b")
}

func TestWhoIsNotExpected(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(*restarts, *conn){
		"down too long":        func(r *restarts, c *conn) { r.restart(30_001, c) },
		"killed":               func(r *restarts, c *conn) { r.ConnClosed(c); r.end(100) },
		"unregistered":         func(r *restarts, c *conn) { r.Leave(); r.Unregister(c, "a", "", "g"); r.restart(100, c) },
		"gone before the stop": func(r *restarts, c *conn) { r.ConnClosed(c); r.restart(100) },
		"killed later":         func(r *restarts, c *conn) { r.restart(100, c); r.end(100) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRestarts(t)
			a := &conn{id: 1}
			r.Heartbeat(a, beat("a", sub("T", "*", 1)))
			stop(r, a)
			r.want(name, false)
		})
	}
	r := newRestarts(t)
	a, each := &conn{id: 1}, beat("a", sub("T", "*", 1))
	each.Consumers[0].MessageModel = client.Broadcasting
	r.Heartbeat(a, each)
	r.restart(100, a)
	r.want("broadcasting", false)
}
