package server

import (
	"context"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wheelmq/wheelmq/remoting"
)

func TestStart_PortTaken_ErrorNamesIt(t *testing.T) {
	t.Parallel()
	first := start(t, Options{}, nil)
	second, err := New(Options{Addr: first.Addr().String(), Router: first.opts.Router})
	if err != nil {
		t.Fatal(err)
	}
	err = second.Start()
	if err == nil || !strings.Contains(err.Error(), first.Addr().String()) {
		t.Fatalf("got %v, want an error with %s", err, first.Addr())
	}
	if err := second.Close(context.Background()); err != nil {
		t.Fatalf("close: %v", err)
	}
}

func TestClose_FinishesRunningRequests(t *testing.T) {
	t.Parallel()
	block, running := make(chan struct{}), make(chan struct{})
	routes := []remoting.Route{{Code: 1, Class: remoting.Admin, Handler: func(ex *remoting.Exchange) error {
		close(running)
		<-block
		ex.Reply.Body = make([]byte, 4<<20)
		return nil
	}}}
	registry := prometheus.NewRegistry()
	s := start(t, Options{Metrics: registry}, routes)
	c := dial(t, s)
	c.send(request(1, 9, 0, nil))
	<-running
	closed := make(chan error, 1)
	go func() { closed <- s.Close(context.Background()) }()
	within(t, "the server is stopping", s.stopping.Load)
	close(block)
	if got := c.mustReceive(); got.Opaque != 9 || len(got.Body) != 4<<20 {
		t.Fatalf("opaque %d, body of %d bytes", got.Opaque, len(got.Body))
	}
	c.mustEnd()
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
	if families, err := registry.Gather(); err != nil || len(families) != 0 {
		t.Errorf("metrics are left: %d, %v", len(families), err)
	}
}

// TestClose_AnswersWhatIsDeferred: an answer that a handler sends later is waited for, and meanwhile
// only what is listed is refused; the rest gets no answer.
func TestClose_AnswersWhatIsDeferred(t *testing.T) {
	t.Parallel()
	pending := make(chan *remoting.Pending, 1)
	routes := append(testRoutes(nil, nil), remoting.Route{Code: 1, Handler: func(ex *remoting.Exchange) error {
		pending <- ex.Defer()
		return nil
	}})
	s := start(t, Options{RefusedAtStop: []int32{codeParts}}, routes)
	c := dial(t, s)
	c.send(request(1, 9, 0, nil))
	later := <-pending
	closed := make(chan error, 1)
	go func() { closed <- s.Close(context.Background()) }()
	within(t, "the server is stopping", s.stopping.Load)
	c.send(append(append(request(codeEcho, 10, 0, nil), request(codeParts, 11, remoting.FlagOneway, nil)...), request(codeParts, 12, 0, nil)...))
	if got := c.mustReceive(); got.Opaque != 12 || got.Code != remoting.ServiceNotAvailable || got.Remark != stoppingRemark {
		t.Errorf("opaque %d, code %d, remark %q; want 12, 14 and the reason", got.Opaque, got.Code, got.Remark)
	}
	later.Send()
	if got := c.mustReceive(); got.Opaque != 9 || got.Code != remoting.Success {
		t.Errorf("opaque %d, code %d; want 9, 0", got.Opaque, got.Code)
	}
	c.mustEnd()
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
}
