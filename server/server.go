package server

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/panjf2000/gnet/v2"
	"github.com/sirupsen/logrus"
	"golang.org/x/sys/unix"

	"github.com/wheelmq/wheelmq/remoting"
)

// connectionID is process-wide, so that one registry may hold connections of many servers.
var connectionID atomic.Uint64

// Server serves one port. Make it with New.
type Server struct {
	opts    Options
	metrics *metrics
	pools   [remoting.NumClasses]*pool
	calls   calls

	handle  gnet.Engine // set by OnBoot
	addr    netip.AddrPort
	booted  chan struct{} // closed by OnBoot
	ended   chan struct{} // closed when gnet has returned
	failure error         // of gnet, read after ended

	tick     atomic.Int64 // counts OnTick
	stopping atomic.Bool
	loops    sync.Map // gnet.EventLoop → *loop

	mu    sync.Mutex // guards conns
	conns map[*conn]struct{}

	closeOnce sync.Once
	closeErr  error
}

// New checks the options; nothing listens before Start.
func New(opts Options) (*Server, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Server{
		opts:   opts,
		booted: make(chan struct{}),
		ended:  make(chan struct{}),
		conns:  make(map[*conn]struct{}),
	}
	s.calls.waiting = make(map[callKey]chan *remoting.Command)
	return s, nil
}

// Start returns when the port is bound, or says why it cannot be.
func (s *Server) Start() error {
	for class := remoting.Inline + 1; class < remoting.NumClasses; class++ {
		s.pools[class] = newPool(s.opts.Pools[class], s.serveTask)
	}
	s.metrics = newMetrics(s.opts.Name, &s.pools)
	if err := s.metrics.register(s.opts.Metrics); err != nil {
		s.stopPools(context.Background())
		return err
	}
	go s.run()
	select {
	case <-s.booted:
		s.opts.Log.WithField("addr", s.addr.String()).Debug("listening")
		return nil
	case <-s.ended:
		s.metrics.unregister(s.opts.Metrics)
		s.stopPools(context.Background())
		return fmt.Errorf("listen on %s: %w", s.opts.Addr, s.failure)
	}
}

func (s *Server) run() {
	defer close(s.ended)
	e := &engine{s: s, addrs: []string{"tcp://" + s.opts.Addr}}
	s.failure = gnet.Rotate(e, e.addrs,
		gnet.WithNumEventLoop(s.opts.NumEventLoop),
		gnet.WithReuseAddr(true),
		gnet.WithTicker(true),
		gnet.WithTCPNoDelay(gnet.TCPNoDelay),
		gnet.WithLogger(engineLog{s.opts.Log}),
	)
	e.s = nil
	if !s.stopping.Load() && s.addr.IsValid() {
		s.opts.Log.WithError(s.failure).WithField("addr", s.addr.String()).Error("the listener has ended")
	}
}

// Addr is the bound address; valid after Start.
func (s *Server) Addr() netip.AddrPort { return s.addr }

// Ended is closed when the listener has ended, by Close or by a failure.
func (s *Server) Ended() <-chan struct{} { return s.ended }

// Connections is the number of open connections.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// Close takes no more requests, finishes those that run, writes their replies and closes
// every connection; what still comes is refused as Options.RefusedAtStop says. It waits as
// long as ctx allows for workers, and a second for clients and for answers that handlers
// deferred; afterwards no goroutine of the server lives. Closing twice, or without a
// successful Start, is harmless.
func (s *Server) Close(ctx context.Context) error {
	s.closeOnce.Do(func() { s.closeErr = s.close(ctx) })
	return s.closeErr
}

func (s *Server) close(ctx context.Context) error {
	if !s.addr.IsValid() {
		return nil
	}
	s.stopping.Store(true)
	err := s.stopPools(ctx)
	s.drain(ctx)
	s.end()
	s.metrics.unregister(s.opts.Metrics)
	return err
}

// Abort breaks every connection off, answered or not, and stops. Requests that run are waited
// for; their replies go nowhere.
func (s *Server) Abort() {
	s.closeOnce.Do(func() {
		if !s.addr.IsValid() {
			return
		}
		s.stopping.Store(true)
		s.end()
		s.closeErr = s.stopPools(context.Background())
		s.metrics.unregister(s.opts.Metrics)
	})
}

// end stops gnet. Stop polls twice a second for the end; ended tells at once.
func (s *Server) end() {
	signalOnly, cancel := context.WithCancel(context.Background())
	cancel()
	_ = s.handle.Stop(signalOnly)
	<-s.ended
}

func (s *Server) stopPools(ctx context.Context) error {
	done := make(chan struct{})
	for _, p := range s.pools {
		if p != nil {
			p.stop()
		}
	}
	go func() {
		defer close(done)
		for _, p := range s.pools {
			if p != nil {
				p.wait()
			}
		}
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("server %s: requests still running: %w", s.opts.Name, ctx.Err())
	}
}

// drainLimit bounds what a client that does not read can hold up a stop.
const drainLimit = time.Second

// drain waits until the replies have left, deferred ones too.
func (s *Server) drain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, drainLimit)
	defer cancel()
	for s.backlog(ctx) > 0 {
		select {
		case <-ctx.Done():
			return
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// backlog asks every loop for what its connections still have to write: bytes, and answers that are
// not there yet.
func (s *Server) backlog(ctx context.Context) int {
	s.mu.Lock()
	conns := make([]*conn, 0, len(s.conns))
	for c := range s.conns {
		conns = append(conns, c)
	}
	s.mu.Unlock()
	left := make(chan int, len(conns))
	asked, total := 0, 0
	for _, c := range conns {
		total += int(c.awaited.Load())
		ask := gnet.RunnableFunc(func(context.Context) error {
			c.flush()
			if c.gone() {
				left <- 0
			} else {
				left <- c.raw.OutboundBuffered()
			}
			return nil
		})
		if c.events.Execute(ctx, ask) == nil {
			asked++
		}
	}
	for range asked {
		select {
		case n := <-left:
			total += n
		case <-ctx.Done():
			return total
		}
	}
	return total
}

// engine is the Server as gnet sees it.
type engine struct {
	gnet.BuiltinEventEngine
	s     *Server // nil once gnet has returned
	addrs []string
}

// oneName is what every engine is called in gnet's register. It keeps the last engine of each
// name for as long as the process lives, and an engine keeps its server: a process that starts
// many on free ports would keep them all.
const oneName = "wheelmq"

// OnBoot implements gnet.EventHandler.
func (e *engine) OnBoot(handle gnet.Engine) gnet.Action {
	fd, err := handle.Dup()
	if err != nil {
		e.s.opts.Log.WithError(err).Error("cannot read the listener's address")
		return gnet.Shutdown
	}
	e.s.addr = localAddr(fd)
	_ = unix.Close(fd)
	e.s.handle = handle
	// gnet listens already; what is left to do with the address is the register.
	e.addrs[0] = oneName
	close(e.s.booted)
	return gnet.None
}

// OnOpen implements gnet.EventHandler.
func (e *engine) OnOpen(raw gnet.Conn) ([]byte, gnet.Action) {
	s := e.s
	s.metrics.accepted.Inc()
	c := &conn{
		id: connectionID.Add(1), server: s, raw: raw, events: raw.EventLoop(),
		remote: remoteAddr(raw.Fd()), local: localAddr(raw.Fd()), need: 4,
	}
	c.loop = s.loopOf(c.events)
	c.touch()
	s.mu.Lock()
	full := s.stopping.Load() || len(s.conns) >= s.opts.MaxConnections
	if !full {
		s.conns[c] = struct{}{}
	}
	s.mu.Unlock()
	if full {
		s.metrics.closed.WithLabelValues(causeRefused).Inc()
		s.opts.Log.WithField("remote", c.remote.String()).Debug("connection refused")
		return nil, gnet.Close
	}
	s.metrics.connections.Inc()
	raw.SetContext(c)
	return nil, gnet.None
}

// OnClose implements gnet.EventHandler.
func (e *engine) OnClose(raw gnet.Conn, err error) gnet.Action {
	c, ok := raw.Context().(*conn)
	if !ok {
		return gnet.None
	}
	s := e.s
	raw.SetContext(nil)
	cause, reason := c.finish(err)
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
	s.metrics.connections.Dec()
	s.metrics.closed.WithLabelValues(cause).Inc()
	s.calls.closed(c.id)
	s.opts.Log.WithFields(logrus.Fields{"remote": c.remote.String(), "cause": cause, "reason": reason}).Debug("connection closed")
	if s.opts.OnClose != nil {
		s.guard("OnClose", func() { s.opts.OnClose(c) })
	}
	return gnet.None
}

// idleTicks is the number of ticks per IdleTimeout.
const idleTicks = 8

// OnTick implements gnet.EventHandler: it closes idle connections. Counting ticks costs
// the traffic no clock reading, and a machine that slept finds nobody idle.
func (e *engine) OnTick() (time.Duration, gnet.Action) {
	s := e.s
	now := s.tick.Add(1)
	s.mu.Lock()
	var idle []*conn
	for c := range s.conns {
		if now-c.lastTick.Load() > idleTicks {
			idle = append(idle, c)
		}
	}
	s.mu.Unlock()
	for _, c := range idle {
		c.close(causeIdle, "no traffic for "+s.opts.IdleTimeout.String())
	}
	return max(s.opts.IdleTimeout/idleTicks, time.Millisecond), gnet.None
}

func (s *Server) loopOf(events gnet.EventLoop) *loop {
	if l, ok := s.loops.Load(events); ok {
		return l.(*loop)
	}
	l, _ := s.loops.LoadOrStore(events, new(loop))
	return l.(*loop)
}
