package server

import (
	"context"
	"net"
	"runtime"
	"testing"
	"weak"

	"github.com/wheelmq/wheelmq/remoting"
)

// A process of many tests starts many servers, each on a port of its own.
func TestServer_IsFreedAfterClose(t *testing.T) {
	var closed []weak.Pointer[Server]
	for range 3 {
		closed = append(closed, usedServer(t))
	}
	for _, s := range closed {
		within(t, "a closed server is freed", func() bool {
			runtime.GC()
			return s.Value() == nil
		})
	}
}

func usedServer(t *testing.T) weak.Pointer[Server] {
	t.Helper()
	router := remoting.NewRouter(testRoutes(nil, nil), remoting.RouterOptions{Log: quiet()})
	s, err := New(Options{Addr: freeAddr(t), Router: router, Log: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	c := dial(t, s)
	c.send(request(codeWorker, 1, 0, []byte("body")))
	c.mustReceive()
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	return weak.Make(s)
}

// freeAddr is an address whose port nobody has.
func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}
