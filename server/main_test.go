package server

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"go.uber.org/goleak"

	"github.com/wheelmq/wheelmq/internal/await"
	"github.com/wheelmq/wheelmq/remoting"
)

// gnet's worker pool is shared by the process and lives as long as it.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/panjf2000/ants/v2.(*poolCommon).purgeStaleWorkers"),
		goleak.IgnoreAnyFunction("github.com/panjf2000/ants/v2.(*poolCommon).ticktock"),
	)
}

const (
	codeEcho    = 900 // inline: answers its body
	codeParts   = 901 // inline: answers its body in two parts
	codeWorker  = 902 // pull class: answers its body in two parts
	codeBlock   = 903 // admin class: waits
	codePanic   = 904
	codeDefer   = 905
	codeDiscard = 906 // inline: answers nothing but a code
)

const deadline = await.Patience

func quiet() logrus.FieldLogger {
	log := logrus.New()
	log.SetOutput(io.Discard)
	return log
}

// testRoutes are handlers that echo. Bodies of inline requests die with the callback, so
// parts are copies.
func testRoutes(block chan struct{}, released func()) []remoting.Route {
	parts := func(ex *remoting.Exchange) error {
		body := append([]byte(nil), ex.Req.Body...)
		half := len(body) / 2
		ex.Reply.Parts = append(ex.Reply.Parts, body[:half], body[half:])
		ex.Reply.Release = released
		return nil
	}
	return []remoting.Route{
		{Code: codeEcho, Handler: func(ex *remoting.Exchange) error {
			ex.Reply.Body = ex.Req.Body
			return nil
		}},
		{Code: codeParts, Handler: parts},
		{Code: codeWorker, Class: remoting.Pull, Handler: parts},
		{Code: codeBlock, Class: remoting.Admin, Handler: func(*remoting.Exchange) error {
			<-block
			return nil
		}},
		{Code: codePanic, Handler: func(*remoting.Exchange) error { panic("handler") }},
		{Code: codeDefer, Handler: func(ex *remoting.Exchange) error {
			p := ex.Defer()
			go func() {
				p.Reply.Remark = "later"
				p.Send()
			}()
			return nil
		}},
		{Code: codeDiscard, Handler: func(*remoting.Exchange) error { return nil }},
	}
}

// start runs a server for a test and closes it at the end.
func start(t testing.TB, opts Options, routes []remoting.Route) *Server {
	t.Helper()
	if opts.Log == nil {
		opts.Log = quiet()
	}
	if opts.Addr == "" {
		opts.Addr = "127.0.0.1:0"
	}
	opts.Router = remoting.NewRouter(routes, remoting.RouterOptions{Log: opts.Log})
	s, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), deadline)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

type client struct {
	t testing.TB
	net.Conn
	in *bufio.Reader
}

func dial(t testing.TB, s *Server) *client {
	t.Helper()
	raw, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = raw.Close() })
	_ = raw.SetDeadline(time.Now().Add(deadline))
	return &client{t: t, Conn: raw, in: bufio.NewReaderSize(raw, 1<<16)}
}

func request(code, opaque, flag int32, body []byte) []byte {
	return remoting.AppendRequest(nil, code, opaque, flag, nil, body)
}

func (c *client) send(b []byte) {
	c.t.Helper()
	if _, err := c.Write(b); err != nil {
		c.t.Fatalf("write: %v", err)
	}
}

func (c *client) receive() (*remoting.Command, error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(c.in, head); err != nil {
		return nil, err
	}
	frame := append(head, make([]byte, binary.BigEndian.Uint32(head))...)
	if _, err := io.ReadFull(c.in, frame[4:]); err != nil {
		return nil, err
	}
	cmd := new(remoting.Command)
	return cmd, remoting.Decode(frame, cmd)
}

func (c *client) mustReceive() *remoting.Command {
	c.t.Helper()
	cmd, err := c.receive()
	if err != nil {
		c.t.Fatalf("receive: %v", err)
	}
	return cmd
}

// mustEnd wants the server to close the connection without another frame.
func (c *client) mustEnd() {
	c.t.Helper()
	if cmd, err := c.receive(); err == nil {
		c.t.Fatalf("got a frame with code %d and opaque %d, want the end", cmd.Code, cmd.Opaque)
	} else if ne, ok := err.(net.Error); ok && ne.Timeout() {
		c.t.Fatal("the connection stays open, want the end")
	}
}

func within(t testing.TB, what string, ok func() bool) {
	t.Helper()
	await.Until(t, what, ok)
}
