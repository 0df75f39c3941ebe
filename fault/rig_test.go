package fault_test

import (
	"io"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/fault"
	"github.com/wheelmq/wheelmq/internal/await"
	"github.com/wheelmq/wheelmq/remoting"
)

func quiet() logrus.FieldLogger {
	log := logrus.New()
	log.SetOutput(io.Discard)
	return log
}

// rig is a router under rules that answers sends and pulls, and defers the answer of a pull.
type rig struct {
	t       *testing.T
	wire    *clock.Virtual
	rules   *fault.Rules
	router  *remoting.Router
	conn    wire
	pending *remoting.Pending
	served  atomic.Int64 // requests that were executed
	code    int32        // what sends are answered with
}

// wire is a connection that hands on what is sent.
type wire struct {
	mu     sync.Mutex // guards closed
	closed string
	frames chan []byte
}

func (*wire) ID() uint64                 { return 1 }
func (*wire) RemoteAddr() netip.AddrPort { return netip.AddrPort{} }
func (*wire) LocalAddr() netip.AddrPort  { return netip.AddrPort{} }
func (c *wire) Closed() bool             { return c.reason() != "" }

func (c *wire) reason() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

func (c *wire) Close(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = reason
}

func (c *wire) Send(frame []byte) error {
	c.frames <- frame
	return nil
}

func (c *wire) SendParts(head []byte, _ [][]byte, _ func()) error { return c.Send(head) }

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, wire: clock.NewVirtual(1_000_000), conn: wire{frames: make(chan []byte, 100)}}
	r.rules = fault.New(fault.Options{Wire: r.wire, Log: quiet()})
	t.Cleanup(func() { _ = r.rules.Close() })
	send := func(ex *remoting.Exchange) error {
		r.served.Add(1)
		ex.Reply.Code = r.code
		return nil
	}
	r.router = remoting.NewRouter([]remoting.Route{
		{Code: remoting.SendMessage, Handler: send}, {Code: remoting.SendMessageV2, Handler: send}, {Code: remoting.SendBatchMessage, Handler: send},
		{Code: remoting.HeartBeat, Handler: send},
		{Code: remoting.PullMessage, Handler: func(ex *remoting.Exchange) error {
			r.served.Add(1)
			r.pending = ex.Defer()
			return nil
		}},
	}, remoting.RouterOptions{Before: []remoting.Step{r.rules.Before}, Log: quiet()})
	return r
}

func (r *rig) add(rule fault.Rule) *fault.Fault {
	r.t.Helper()
	f, err := r.rules.Add(rule)
	if err != nil {
		r.t.Fatal(err)
	}
	return f
}

// serve is one request; the answer is in the exchange unless it is Deferred.
func (r *rig) serve(code int32, topic, group string) *remoting.Exchange {
	ex := new(remoting.Exchange)
	ex.Begin(&r.conn)
	ex.Req.Code, ex.Req.Opaque = code, 7
	switch code {
	case remoting.SendMessageV2, remoting.SendBatchMessage:
		ex.Req.Ext.Set("a", group)
		ex.Req.Ext.Set("b", topic)
	case remoting.HeartBeat:
	default:
		ex.Req.Ext.Set("consumerGroup", group)
		ex.Req.Ext.Set("topic", topic)
		ex.Req.Ext.Set("queueOffset", "41")
	}
	r.router.Serve(ex)
	return ex
}

func (r *rig) frame() *remoting.Command {
	r.t.Helper()
	select {
	case frame := <-r.conn.frames:
		cmd := new(remoting.Command)
		if err := remoting.Decode(frame, cmd); err != nil {
			r.t.Fatal(err)
		}
		return cmd
	case <-time.After(await.Patience):
		r.t.Fatal("no answer")
		return nil
	}
}

func (r *rig) noFrame() {
	r.t.Helper()
	select {
	case frame := <-r.conn.frames:
		r.t.Fatalf("an answer: %q", frame)
	default:
	}
}
