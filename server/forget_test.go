package server

import (
	"context"
	"runtime"
	"testing"
	"weak"

	"github.com/wheelmq/wheelmq/internal/freeport"
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
	s, err := New(Options{Addr: freeport.Addr(t), Router: router, Log: quiet()})
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
