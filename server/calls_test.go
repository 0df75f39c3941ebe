package server

import (
	"context"
	"errors"
	"testing"

	"github.com/wheelmq/wheelmq/remoting"
)

func TestCall(t *testing.T) {
	t.Parallel()
	conns := make(chan remoting.Conn, 1)
	routes := []remoting.Route{{Code: 1, Handler: func(ex *remoting.Exchange) error {
		conns <- ex.Conn
		return nil
	}}}
	stray := make(chan int32, 1)
	s := start(t, Options{OnResponse: func(_ remoting.Conn, cmd *remoting.Command) { stray <- cmd.Opaque }}, routes)
	c := dial(t, s)
	c.send(request(1, 1, 0, nil))
	c.mustReceive()
	conn := <-conns
	type result struct {
		cmd *remoting.Command
		err error
	}
	results := make(chan result, 1)
	call := func(ctx context.Context) {
		cmd, err := s.Call(ctx, conn, 307, nil, []byte("q"))
		results <- result{cmd, err}
	}

	go call(context.Background())
	asked := c.mustReceive()
	if asked.Code != 307 || asked.IsResponse() || asked.IsOneway() {
		t.Fatalf("asked %d with flag %d", asked.Code, asked.Flag)
	}
	c.send(request(0, 424242, remoting.FlagResponse, nil))
	if got := <-stray; got != 424242 {
		t.Fatalf("stray response %d", got)
	}
	c.send(request(0, asked.Opaque, remoting.FlagResponse, []byte("a")))
	if got := <-results; got.err != nil || string(got.cmd.Body) != "a" {
		t.Fatalf("got %+v", got)
	}

	ctx, cancel := context.WithCancel(context.Background())
	go call(ctx)
	c.mustReceive()
	cancel()
	if got := <-results; !errors.Is(got.err, context.Canceled) {
		t.Fatalf("cancelled call: %v", got.err)
	}

	go call(context.Background())
	c.mustReceive()
	_ = c.Close()
	if got := <-results; !errors.Is(got.err, ErrClosed) {
		t.Fatalf("call of a client that went: %v", got.err)
	}
}
