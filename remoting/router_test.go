package remoting_test

import (
	"errors"
	"io"
	"net/netip"
	"testing"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/remoting"
)

func quiet() logrus.FieldLogger {
	log := logrus.New()
	log.SetOutput(io.Discard)
	return log
}

// conn keeps what was sent.
type conn struct {
	closed bool
	frames [][]byte
}

func (*conn) ID() uint64                 { return 1 }
func (*conn) RemoteAddr() netip.AddrPort { return netip.AddrPort{} }
func (*conn) LocalAddr() netip.AddrPort  { return netip.AddrPort{} }
func (*conn) Close(string)               {}
func (c *conn) Closed() bool             { return c.closed }

func (c *conn) Send(frame []byte) error {
	c.frames = append(c.frames, frame)
	return nil
}

func (c *conn) SendParts(head []byte, parts [][]byte, release func()) error {
	for _, part := range parts {
		head = append(head, part...)
	}
	c.frames = append(c.frames, head)
	if release != nil {
		release()
	}
	return nil
}

func serve(t *testing.T, code int32, opts remoting.RouterOptions, handler remoting.Handler) *remoting.Exchange {
	t.Helper()
	opts.Log = quiet()
	router := remoting.NewRouter([]remoting.Route{
		{Code: remoting.PullMessage, Name: "PULL_MESSAGE", Class: remoting.Pull, Handler: handler},
		{Code: remoting.PopMessage, Name: "POP_MESSAGE", Class: remoting.Query, Handler: handler},
	}, opts)
	ex := new(remoting.Exchange)
	ex.Begin(new(conn))
	ex.Req.Code, ex.Req.Opaque = code, 9
	router.Serve(ex)
	return ex
}

func TestRouter_Serve(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		code    int32
		handler remoting.Handler
		want    int32
		remark  string
	}{
		"answer":       {remoting.PullMessage, func(ex *remoting.Exchange) error { ex.Reply.Code = 19; return nil }, 19, ""},
		"large code":   {remoting.PopMessage, func(ex *remoting.Exchange) error { ex.Reply.Remark = "FOUND"; return nil }, 0, "FOUND"},
		"unknown code": {999, nil, remoting.RequestCodeNotSupported, " request type 999 not supported"},
		"negative":     {-1, nil, remoting.RequestCodeNotSupported, " request type -1 not supported"},
		"known error":  {remoting.PullMessage, func(*remoting.Exchange) error { return remoting.Errorf(17, "no %s", "topic") }, 17, "no topic"},
		"wrapped error": {remoting.PullMessage, func(*remoting.Exchange) error {
			return errors.Join(errors.New("outer"), &remoting.Error{Code: 16, Remark: "no", Cause: io.EOF})
		}, 16, "no"},
		"other error": {remoting.PullMessage, func(*remoting.Exchange) error { return io.EOF }, remoting.SystemError, "internal error, see the broker's log"},
		"panic":       {remoting.PullMessage, func(*remoting.Exchange) error { panic("x") }, remoting.SystemError, "internal error, see the broker's log"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ex := serve(t, c.code, remoting.RouterOptions{}, c.handler)
			if ex.Reply.Code != c.want || ex.Reply.Remark != c.remark {
				t.Fatalf("code %d, remark %q, want %d, %q", ex.Reply.Code, ex.Reply.Remark, c.want, c.remark)
			}
		})
	}
}

// A failure answers without the body the handler had begun and gives its parts back.
func TestRouter_FailureDropsBody(t *testing.T) {
	t.Parallel()
	released := 0
	ex := serve(t, remoting.PullMessage, remoting.RouterOptions{}, func(ex *remoting.Exchange) error {
		ex.Reply.Body, ex.Reply.Parts = []byte("b"), append(ex.Reply.Parts, []byte("p"))
		ex.Reply.Release = func() { released++ }
		return io.EOF
	})
	if released != 1 || ex.Reply.Body != nil || len(ex.Reply.Parts) != 0 || ex.Reply.Release != nil {
		t.Fatalf("released %d times, reply %+v", released, ex.Reply)
	}
}

func TestRouter_Steps(t *testing.T) {
	t.Parallel()
	var order []string
	step := func(name string, err error) remoting.Step {
		return func(_ *remoting.Exchange, route *remoting.Route) error {
			order = append(order, name+" "+route.Name)
			return err
		}
	}
	ex := serve(t, remoting.PullMessage, remoting.RouterOptions{
		Before: []remoting.Step{step("first", nil), step("second", remoting.Errorf(2, "busy")), step("third", nil)},
	}, func(*remoting.Exchange) error { order = append(order, "handler"); return nil })
	if ex.Reply.Code != 2 || len(order) != 2 || order[1] != "second PULL_MESSAGE" {
		t.Fatalf("code %d, steps %v", ex.Reply.Code, order)
	}
}

func TestRouter_Table(t *testing.T) {
	t.Parallel()
	router := remoting.NewRouter([]remoting.Route{{Code: remoting.PopMessage, Class: remoting.Query}, {Code: 11, Class: remoting.Pull}}, remoting.RouterOptions{})
	if all := router.Routes(); len(all) != 2 || all[0].Code != 11 || all[1].Code != remoting.PopMessage {
		t.Errorf("routes %v", all)
	}
	if router.Class(11) != remoting.Pull || router.Class(remoting.PopMessage) != remoting.Query || router.Class(12) != remoting.Inline {
		t.Error("wrong classes")
	}
	defer func() {
		if recover() == nil {
			t.Error("two routes for one code were accepted")
		}
	}()
	remoting.NewRouter([]remoting.Route{{Code: 11}, {Code: 11}}, remoting.RouterOptions{})
}

func TestPending_Send(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		closed, oneway bool
		parts          bool
		frames         int
	}{
		"body":            {frames: 1},
		"parts":           {parts: true, frames: 1},
		"oneway":          {oneway: true},
		"oneway parts":    {oneway: true, parts: true},
		"closed meantime": {closed: true, parts: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to, released := &conn{}, 0
			ex := new(remoting.Exchange)
			ex.Begin(to)
			ex.Req.Opaque = 77
			if c.oneway {
				ex.Req.Flag = remoting.FlagOneway
			}
			p := ex.Defer()
			if !ex.Deferred() || p.Conn() != remoting.Conn(to) {
				t.Fatal("not deferred")
			}
			ex.Begin(new(conn)) // the exchange goes on with the next request
			ex.Req.Opaque = 78
			to.closed = c.closed
			p.Reply.Body = []byte("bo")
			if c.parts {
				p.Reply.Parts = append(p.Reply.Parts, []byte("dy"))
				p.Reply.Release = func() { released++ }
			}
			p.Send()
			if len(to.frames) != c.frames || c.parts != (released == 1) {
				t.Fatalf("%d frames, released %d times", len(to.frames), released)
			}
			if c.frames == 0 {
				return
			}
			var cmd remoting.Command
			if err := remoting.Decode(to.frames[0], &cmd); err != nil || cmd.Opaque != 77 || !cmd.IsResponse() {
				t.Fatalf("%s, %v", text(&cmd), err)
			}
			if want := map[bool]string{true: "body", false: "bo"}[c.parts]; string(cmd.Body) != want {
				t.Fatalf("body %q, want %q", cmd.Body, want)
			}
		})
	}
}
