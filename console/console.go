package console

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/sirupsen/logrus"
)

// headerTimeout is how long a connection may take to say what it wants.
const headerTimeout = 10 * time.Second

// Options are what a Console needs.
type Options struct {
	Addr    string // host:port; port 0 takes a free one
	Health  Reporter
	Metrics prometheus.Gatherer
	Log     logrus.FieldLogger
	// Handlers serve more paths, by pattern of http.ServeMux. The context of their requests ends
	// when the Console begins to close.
	Handlers map[string]http.Handler
}

// Console is the HTTP server.
type Console struct {
	opts     Options
	listener net.Listener // nil before Start
	server   *http.Server
	closing  context.CancelFunc
	done     chan struct{} // closed when the serving goroutine has ended
}

// New returns a Console that does not listen yet.
func New(opts Options) *Console {
	c := &Console{opts: opts, done: make(chan struct{})}
	mux := http.NewServeMux()
	c.probes(mux)
	mux.Handle("GET /metrics", promhttp.HandlerFor(opts.Metrics, promhttp.HandlerOpts{ErrorLog: opts.Log}))
	for pattern, handler := range opts.Handlers {
		mux.Handle(pattern, handler)
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.closing = cancel
	c.server = &http.Server{
		Handler: mux, ReadHeaderTimeout: headerTimeout, BaseContext: func(net.Listener) context.Context { return ctx },
	}
	return c
}

// Start listens and serves. It is called once.
func (c *Console) Start() error {
	l, err := net.Listen("tcp", c.opts.Addr)
	if err != nil {
		return fmt.Errorf("console: %w", err)
	}
	c.listener = l
	go func() {
		defer close(c.done)
		if err := c.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			c.opts.Log.WithError(err).Error("the HTTP server ended")
		}
	}()
	return nil
}

// Addr is the address that is listened on, "" before Start.
func (c *Console) Addr() string {
	if c.listener == nil {
		return ""
	}
	return c.listener.Addr().String()
}

// Close stops. Requests under way have until ctx ends and are cut then.
func (c *Console) Close(ctx context.Context) error {
	c.closing()
	if c.listener == nil {
		return nil
	}
	err := c.server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(fmt.Errorf("console: %w", err), c.server.Close())
	}
	<-c.done
	return err
}
