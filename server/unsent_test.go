package server

import (
	"io"
	"testing"

	"github.com/wheelmq/wheelmq/remoting"
)

// TestUnsent has a client leave frames unread, and then read them.
func TestUnsent(t *testing.T) {
	const code, size, frames = 1, 1 << 20, 16
	conns := make(chan remoting.Conn, 1)
	s := start(t, Options{}, []remoting.Route{{Code: code, Handler: func(ex *remoting.Exchange) error {
		conns <- ex.Conn
		return nil
	}}})
	c := dial(t, s)
	if _, err := c.Write(request(code, 1, remoting.FlagOneway, nil)); err != nil {
		t.Fatal(err)
	}
	conn := (<-conns).(interface {
		remoting.Conn
		Unsent() int
	})
	if n := conn.Unsent(); n != 0 {
		t.Errorf("%d bytes are unsent before anything was sent", n)
	}
	for range frames {
		if err := conn.Send(make([]byte, size)); err != nil {
			t.Fatal(err)
		}
	}
	// The sockets take some of it.
	if n := conn.Unsent(); n == 0 || n > frames*size {
		t.Errorf("%d of %d bytes are unsent while nobody reads", n, frames*size)
	}
	if _, err := io.CopyN(io.Discard, c.in, frames*size); err != nil {
		t.Fatal(err)
	}
	within(t, "nothing is unsent after all was read", func() bool { return conn.Unsent() == 0 })
}
