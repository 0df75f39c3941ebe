package console_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"
	"go.uber.org/goleak"

	"github.com/wheelmq/wheelmq/console"
	"github.com/wheelmq/wheelmq/health"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type fixture struct {
	console *console.Console
	health  *health.Registry
	metrics *prometheus.Registry
	client  http.Client
}

func build(addr string) *fixture {
	log := logrus.New()
	log.SetOutput(io.Discard)
	f := &fixture{health: health.NewRegistry(), metrics: prometheus.NewRegistry()}
	f.client.Transport = &http.Transport{DisableKeepAlives: true}
	f.console = console.New(console.Options{Addr: addr, Health: f.health, Metrics: f.metrics, Log: log})
	return f
}

func start(t *testing.T) *fixture {
	t.Helper()
	f := build("127.0.0.1:0")
	if err := f.console.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.console.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return f
}

func (f *fixture) get(t *testing.T, path string) (status int, body string) {
	t.Helper()
	reply, err := f.client.Get("http://" + f.console.Addr() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	b, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply.StatusCode, string(b)
}

func TestHealth(t *testing.T) {
	t.Parallel()
	for state, want := range map[health.State]int{
		health.Up: http.StatusOK, health.Degraded: http.StatusOK, health.Down: http.StatusServiceUnavailable,
	} {
		f := start(t)
		f.health.Register("store", func() health.Result { return health.Result{State: health.Up} })
		f.health.Register("schedule", func() health.Result { return health.Result{State: state, Reason: "because"} })
		status, body := f.get(t, "/health")
		if status != want {
			t.Errorf("%s is answered with %d, want %d", state, status, want)
		}
		var report health.Report
		if err := json.Unmarshal([]byte(body), &report); err != nil {
			t.Fatal(err)
		}
		if report.State != state || report.Parts["schedule"].Reason != "because" || report.Parts["store"].State != health.Up {
			t.Errorf("report %+v", report)
		}
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	f := start(t)
	counter := prometheus.NewCounter(prometheus.CounterOpts{Name: "rocketmq_something_total", Help: "Something."})
	f.metrics.MustRegister(counter)
	counter.Add(3)
	if status, body := f.get(t, "/metrics"); status != http.StatusOK || !strings.Contains(body, "rocketmq_something_total 3\n") {
		t.Errorf("status %d, body %s", status, body)
	}
}

func TestOtherPaths_AreNotFound(t *testing.T) {
	t.Parallel()
	if status, _ := start(t).get(t, "/"); status != http.StatusNotFound {
		t.Errorf("status %d", status)
	}
}

// TestHandlers_EndWithTheConsole holds a request that waits for nothing but its context.
func TestHandlers_EndWithTheConsole(t *testing.T) {
	t.Parallel()
	entered := make(chan struct{})
	f := build("127.0.0.1:0")
	opts := console.Options{Addr: "127.0.0.1:0", Health: f.health, Metrics: f.metrics, Log: logrus.New(), Handlers: map[string]http.Handler{
		"/wait/": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			close(entered)
			<-r.Context().Done()
			w.WriteHeader(http.StatusTeapot)
		}),
	}}
	f.console = console.New(opts)
	if err := f.console.Start(); err != nil {
		t.Fatal(err)
	}
	status := make(chan int, 1)
	go func() {
		reply, err := f.client.Get("http://" + f.console.Addr() + "/wait/")
		if err != nil {
			status <- 0
			return
		}
		reply.Body.Close()
		status <- reply.StatusCode
	}()
	<-entered
	if err := f.console.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if got := <-status; got != http.StatusTeapot {
		t.Errorf("the handler's answer came as %d", got)
	}
}

func TestStart_PortTaken(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	f := build(l.Addr().String())
	if err := f.console.Start(); err == nil || !strings.Contains(err.Error(), l.Addr().String()) {
		t.Errorf("error %v does not name %s", err, l.Addr())
	}
	if err := f.console.Close(context.Background()); err != nil {
		t.Errorf("closing what never started: %v", err)
	}
}

// TestClose_CutsWhatDoesNotEnd holds a request in a health check for longer than Close may take.
func TestClose_CutsWhatDoesNotEnd(t *testing.T) {
	t.Parallel()
	f := build("127.0.0.1:0")
	if err := f.console.Start(); err != nil {
		t.Fatal(err)
	}
	entered, leave := make(chan struct{}), make(chan struct{})
	f.health.Register("stuck", func() health.Result { close(entered); <-leave; return health.Result{State: health.Up} })
	answered := make(chan error, 1)
	go func() {
		reply, err := f.client.Get("http://" + f.console.Addr() + "/health")
		if err == nil {
			reply.Body.Close()
		}
		answered <- err
	}()
	<-entered
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := f.console.Close(ctx); err == nil {
		t.Error("a request was cut and Close did not say so")
	}
	if err := <-answered; err == nil {
		t.Error("the request was answered after Close")
	}
	close(leave)
}
