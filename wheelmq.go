// Package wheelmq is a RocketMQ-compatible server for embedding: name server and broker in one
// process, many instances per process. It is the only place where all parts meet.
package wheelmq

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/config"
	"github.com/wheelmq/wheelmq/console"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/namesrv"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/server"
)

// Config is what an instance is started with.
type Config struct {
	*config.Config // nil takes the defaults; a port 0 in it takes a free one

	// WithoutBroker and WithoutNameServer leave a part out.
	WithoutBroker, WithoutNameServer bool
	Log                              logrus.FieldLogger // nil: the standard logger of logrus
	// EventLoops is how many goroutines serve the broker's port; 0: GOMAXPROCS. One that waits
	// for its sockets keeps a P for up to 10 ms, and when all Ps are kept, timers are late by
	// as much: a process that wants delays on time has a few Ps more than loops.
	EventLoops int

	wall func() time.Time // the wall clock, nil: the machine's
}

// Instance is a running server.
type Instance struct {
	cfg         Config
	log         logrus.FieldLogger
	health      *health.Registry
	metrics     *prometheus.Registry
	differences *difference.Set

	namesrv       *namesrv.Server
	namesrvServer *server.Server
	broker        *broker.Broker
	brokerServer  *server.Server
	brokerPort    uint16
	storeHost     netip.AddrPort // the broker's address in message ids
	console       *console.Console

	closers []closer // in the order of starting
}

type closer struct {
	what  string
	close func(context.Context) error
}

// Start starts an instance; when it returns, every port accepts and the broker has a route.
// The context bounds the start only.
func Start(ctx context.Context, cfg Config) (*Instance, error) {
	if cfg.Config == nil {
		cfg.Config = config.Default()
	}
	if cfg.Log == nil {
		cfg.Log = logrus.StandardLogger()
	}
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	if err := checkStorePaths(cfg.Config); err != nil {
		return nil, err
	}
	differences, err := difference.NewSet(cfg.Profile)
	if err != nil {
		return nil, err
	}
	i := &Instance{
		cfg: cfg, log: cfg.Log, health: health.NewRegistry(), metrics: prometheus.NewRegistry(), differences: differences,
	}
	i.metrics.MustRegister(collectors.NewGoCollector())
	if err := i.start(); err != nil {
		return nil, errors.Join(err, i.Close(context.WithoutCancel(ctx)))
	}
	return i, nil
}

func (i *Instance) start() error {
	if !i.cfg.WithoutNameServer {
		if err := i.startNameServer(); err != nil {
			return err
		}
	}
	if !i.cfg.WithoutBroker {
		if err := i.startBroker(); err != nil {
			return err
		}
	}
	return i.startConsole()
}

func (i *Instance) addr(port int) string {
	return net.JoinHostPort(i.cfg.BindAddress, strconv.Itoa(port))
}

func (i *Instance) onClose(what string, f func(context.Context) error) {
	i.closers = append(i.closers, closer{what, f})
}

func (i *Instance) startNameServer() error {
	ns := namesrv.New(namesrv.Options{
		Wire: clock.Real{}, Log: i.log.WithField("part", "namesrv"), Differences: i.differences, Health: i.health, Metrics: i.metrics,
	})
	if err := ns.OpenKVConfig(filepath.Join(i.cfg.StorePathRootDir, "namesrv", "kvConfig.json")); err != nil {
		return err
	}
	ns.SetTopicEnsurer(func(topic string) bool { return i.broker != nil && i.broker.EnsureRetryTopic(topic) })
	router := remoting.NewRouter(ns.Routes(), remoting.RouterOptions{Log: i.log})
	s, err := server.New(server.Options{
		Name: "namesrv", Addr: i.addr(i.cfg.NamesrvListenPort), Router: router, OnClose: ns.ConnClosed,
		NumEventLoop: 1, Log: i.log, Metrics: prometheus.WrapRegistererWith(prometheus.Labels{"port": "namesrv"}, i.metrics),
	})
	if err != nil {
		return err
	}
	if err := s.Start(); err != nil {
		return err
	}
	i.namesrv, i.namesrvServer = ns, s
	i.watch("name server port", s)
	ns.Start()
	i.onClose("name server", func(ctx context.Context) error { return errors.Join(s.Close(ctx), ns.Close()) })
	return nil
}

func (i *Instance) startBroker() error {
	port, err := i.resolvePort(i.cfg.ListenPort)
	if err != nil {
		return err
	}
	i.brokerPort = port
	host, why, err := i.findHost()
	if err != nil {
		return err
	}
	i.storeHost = netip.AddrPortFrom(host, port)
	timeline := clock.OpenTimeline(clock.TimelineOptions{
		File: filepath.Join(i.cfg.StorePathRootDir, "config", "wheelmqClock.json"),
		Log:  i.log.WithField("part", "clock"), Wall: i.cfg.wall,
	})
	b, err := broker.New(broker.Options{
		Config: i.cfg.Config, StoreHost: i.storeHost, Store: timeline, Wire: clock.Real{}, Log: i.log,
		Metrics: i.metrics, Health: i.health, Differences: i.differences,
	})
	if err != nil {
		return err
	}
	timeline.NotBefore(b.LastTimestamp())
	// The broker has locked the store by now: the timeline's file is ours to write.
	if err := i.startTimeline(timeline); err != nil {
		return errors.Join(err, b.Close())
	}
	i.onClose("broker", func(context.Context) error { return b.Close() })
	if err := b.Start(); err != nil {
		return err
	}
	if err := i.listen(b); err != nil {
		return err
	}
	i.broker = b
	i.register(b)
	i.log.WithFields(logrus.Fields{"address": i.storeHost, "why": why}).Info("broker address in message ids")
	return i.registerOutside(b)
}

// startTimeline runs the store's clock; it is closed after the broker, which needs it.
func (i *Instance) startTimeline(timeline *clock.Timeline) error {
	timeline.Start()
	i.onClose("clock", func(context.Context) error { return timeline.Close() })
	i.health.Register("clock", func() health.Result {
		if err := timeline.SaveError(); err != nil {
			return health.Result{State: health.Degraded, Reason: "a restart may move store time: " + err.Error()}
		}
		return health.Result{State: health.Up}
	})
	return i.metrics.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "wheelmq_clock_wall_offset_ms", Help: "What the wall clock is ahead of store time: its steps, which store time does not follow.",
	}, func() float64 { return float64(timeline.WallOffset().Milliseconds()) }))
}

// listen opens the broker's port and, when the port was chosen, the VIP port two below.
func (i *Instance) listen(b *broker.Broker) error {
	s, err := i.brokerListener("broker", int(i.brokerPort), b)
	if err != nil {
		return err
	}
	i.brokerServer = s
	if i.cfg.ListenPort == 0 || i.brokerPort <= 2 {
		return nil
	}
	if _, err := i.brokerListener("broker-vip", int(i.brokerPort)-2, b); err != nil {
		i.log.WithError(err).Warn("the VIP port is not served: old clients with vipChannelEnabled cannot send")
	}
	return nil
}

func (i *Instance) brokerListener(name string, port int, b *broker.Broker) (*server.Server, error) {
	loops := i.cfg.EventLoops
	if name != "broker" {
		loops = 1
	}
	s, err := server.New(server.Options{
		Name: name, Addr: i.addr(port), Router: b.Router(), OnClose: b.ConnClosed, NumEventLoop: loops, Log: i.log,
		Metrics: prometheus.WrapRegistererWith(prometheus.Labels{"port": name}, i.metrics),
	})
	if err != nil {
		return nil, err
	}
	if err := s.Start(); err != nil {
		return nil, err
	}
	i.onClose(name+" port", s.Close)
	i.watch(name+" port", s)
	return s, nil
}

// watch shows a listener that has ended by itself.
func (i *Instance) watch(part string, s *server.Server) {
	i.health.Register(part, func() health.Result {
		select {
		case <-s.Ended():
			return health.Result{State: health.Down, Reason: "the listener on " + s.Addr().String() + " has ended, see the log"}
		default:
			return health.Result{State: health.Up}
		}
	})
}

// resolvePort turns port 0 into a free one, which message ids must name before it is open.
func (i *Instance) resolvePort(port int) (uint16, error) {
	if port != 0 {
		return uint16(port), nil
	}
	l, err := net.Listen("tcp", i.addr(0))
	if err != nil {
		return 0, fmt.Errorf("wheelmq: no free port: %w", err)
	}
	free := l.Addr().(*net.TCPAddr).Port
	return uint16(free), l.Close()
}

// findHost is the broker's address in message ids, which clients connect to for a look at a
// message: brokerIP1, else the bound address, else the machine's first address.
func (i *Instance) findHost() (addr netip.Addr, why string, err error) {
	if ip := i.cfg.BrokerIP1; ip != "" {
		addr, err := netip.ParseAddr(ip)
		if err != nil {
			return addr, "", fmt.Errorf("config: brokerIP1=%q: want an IP address: %w", ip, err)
		}
		return addr, "brokerIP1", nil
	}
	if addr, err := netip.ParseAddr(i.cfg.BindAddress); err == nil && !addr.IsUnspecified() {
		return addr, "bindAddress", nil
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return addr, "", fmt.Errorf("wheelmq: %w", err)
	}
	for _, a := range addrs {
		prefix, err := netip.ParsePrefix(a.String())
		if err == nil && prefix.Addr().Is4() && !prefix.Addr().IsLoopback() && !prefix.Addr().IsLinkLocalUnicast() {
			return prefix.Addr(), "first IPv4 address of this machine; set brokerIP1 to choose another", nil
		}
	}
	return netip.MustParseAddr("127.0.0.1"), "no other address on this machine", nil
}

func (i *Instance) startConsole() error {
	c := console.New(console.Options{Addr: i.addr(i.cfg.HTTPPort), Health: i.health, Metrics: i.metrics, Log: i.log})
	if err := c.Start(); err != nil {
		return err
	}
	i.console = c
	i.onClose("HTTP", c.Close)
	return nil
}

// local is addr as a client on this machine reaches it.
func local(addr netip.AddrPort) string {
	if addr.Addr().IsUnspecified() {
		return netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), addr.Port()).String()
	}
	return netip.AddrPortFrom(addr.Addr().Unmap(), addr.Port()).String()
}

// NameServerAddr is what a client on this machine sets as its name server; "" without one.
func (i *Instance) NameServerAddr() string {
	if i.namesrvServer == nil {
		return ""
	}
	return local(i.namesrvServer.Addr())
}

// BrokerAddr is the broker's address for clients on this machine; "" without one.
func (i *Instance) BrokerAddr() string {
	if i.brokerServer == nil {
		return ""
	}
	return local(i.brokerServer.Addr())
}

// HTTPAddr is where /health and /metrics are.
func (i *Instance) HTTPAddr() string { return i.console.Addr() }

// Health is the state of the instance.
func (i *Instance) Health() health.Report { return i.health.Report() }

// Differences are what clients relied on that the real broker lacks, by name, with counts.
func (i *Instance) Differences() map[string]int64 { return i.differences.Used() }

// Close stops everything in the reverse of its order. What was acknowledged is on disk when
// it returns.
func (i *Instance) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	var all []error
	for n := len(i.closers) - 1; n >= 0; n-- {
		if err := i.closers[n].close(ctx); err != nil {
			all = append(all, fmt.Errorf("close %s: %w", i.closers[n].what, err))
		}
	}
	i.closers = nil
	return errors.Join(all...)
}
