package server

import (
	"slices"
	"testing"

	"github.com/wheelmq/wheelmq/remoting"
)

// TestGone has a client send requests that wait for the worker, and leave: what it sent oneway is done, as
// the real broker does, what it wanted an answer to is not.
func TestGone(t *testing.T) {
	t.Parallel()
	const code, last = 1, 9
	block, served := make(chan struct{}), make(chan int32, 10)
	opts := Options{}
	opts.Pools[remoting.Admin] = Pool{Workers: 1, Queue: 10}
	s := start(t, opts, []remoting.Route{{Code: code, Class: remoting.Admin, Handler: func(ex *remoting.Exchange) error {
		served <- ex.Req.Opaque
		<-block
		return nil
	}}})
	c := dial(t, s)
	c.send(request(code, 1, 0, nil))
	if first := <-served; first != 1 {
		t.Fatalf("request %d is served first", first)
	}
	c.send(append(request(code, 2, 0, nil), request(code, 3, remoting.FlagOneway, nil)...))
	within(t, "both wait", func() bool { return s.Waiting(remoting.Admin) == 2 })
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	within(t, "the client has gone", func() bool { return s.Connections() == 0 })
	dial(t, s).send(request(code, last, 0, nil))
	close(block)
	var got []int32
	for !slices.Contains(got, last) {
		got = append(got, <-served)
	}
	if !slices.Equal(got, []int32{3, last}) {
		t.Errorf("served are %v, want %v", got, []int32{3, last})
	}
}
