package server

import (
	"context"
	"sync"
	"testing"

	"github.com/wheelmq/wheelmq/remoting"
)

// outcomes are the answers that an observer hears of.
type outcomes struct {
	mu   sync.Mutex
	told map[string]map[int32]int // by request and response code
}

func (o *outcomes) NowMillis() int64 { return 0 }

func (o *outcomes) Served(route *remoting.Route, code int32, _ int64, _ bool, _ remoting.Outcome) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.told == nil {
		o.told = make(map[string]map[int32]int)
	}
	if o.told[route.Name] == nil {
		o.told[route.Name] = make(map[int32]int)
	}
	o.told[route.Name][code]++
}

func (o *outcomes) of(name string, code int32) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.told[name][code]
}

// TestTurned_IsObserved: what is refused because of load or a stop counts like what is served.
func TestTurned_IsObserved(t *testing.T) {
	t.Parallel()
	const held, inline = 1, 2
	block := make(chan struct{})
	pending := make(chan *remoting.Pending, 1)
	seen := &outcomes{}
	opts := Options{Observer: seen, RefusedAtStop: []int32{inline}}
	opts.Pools[remoting.Admin] = Pool{Workers: 1, Queue: 1}
	s := start(t, opts, []remoting.Route{
		{Code: held, Name: "HELD", Class: remoting.Admin, Handler: func(*remoting.Exchange) error { <-block; return nil }},
		{Code: inline, Name: "INLINE", Handler: func(ex *remoting.Exchange) error { pending <- ex.Defer(); return nil }},
	})
	c := dial(t, s)
	for i := range int32(4) {
		c.send(request(held, i, 0, nil))
	}
	within(t, "the busy server's refusals are told", func() bool { return seen.of("HELD", remoting.SystemBusy) >= 2 })
	close(block)
	within(t, "what was served is told", func() bool { return seen.of("HELD", remoting.SystemBusy)+seen.of("HELD", remoting.Success) == 4 })
	c.send(request(inline, 10, 0, nil))
	later := <-pending
	closed := make(chan error, 1)
	go func() { closed <- s.Close(context.Background()) }()
	within(t, "the server is stopping", s.stopping.Load)
	c.send(request(inline, 11, 0, nil))
	within(t, "the stopping server's refusal is told", func() bool { return seen.of("INLINE", remoting.ServiceNotAvailable) == 1 })
	later.Send()
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
}
