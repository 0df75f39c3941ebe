package wheelmq

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/metrics"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/server"
)

func (l *life) startBroker() error {
	var err error
	if l.advertised, err = parseAdvertise(l.cfg.Advertise); err != nil {
		return err
	}
	host, why, err := l.findHost()
	if err != nil {
		return err
	}
	l.storeHost = netip.AddrPortFrom(host, l.ports.broker)
	b, err := l.openBroker()
	if err != nil {
		return err
	}
	l.onClose("broker", func(context.Context) error { return b.Close() })
	if err := b.Start(); err != nil {
		return err
	}
	if err := l.listen(b); err != nil {
		return err
	}
	l.broker = b
	l.register(b)
	l.log.WithFields(logrus.Fields{"address": l.storeHost, "why": why}).Info("broker address in message ids")
	return l.registerOutside(b)
}

// openBroker opens the broker with the clock of its messages, which runs when it returns.
func (l *life) openBroker() (*broker.Broker, error) {
	opts := broker.Options{
		Config: l.cfg.Config, Memory: l.memory, StoreHost: l.storeHost, Wire: clock.Real{}, Before: l.before("broker"), Log: l.log,
		Metrics: l.labelled(), Health: l.health, Differences: l.differences, Faults: l.faults, Rewound: l.rewound, TrackInFlight: l.cfg.Test != nil,
		Routes: l.routes, Waiting: l.waiting, OnStep: func(step string) { l.step.Store(&step) },
	}
	if l.cfg.Test != nil && l.cfg.Test.VirtualClock {
		opts.Store, opts.ExpireFiles = clock.NewVirtual(l.cfg.Test.start()), l.cfg.Test.ExpireFiles
		return broker.New(opts)
	}
	timeline := clock.OpenTimeline(l.timeline())
	opts.Store = timeline
	b, err := broker.New(opts)
	if err != nil {
		return nil, err
	}
	timeline.NotBefore(b.LastTimestamp())
	// The broker has locked the store by now: the timeline's file is ours to write.
	if err := l.startTimeline(timeline); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// labelled registers metrics with the labels that the real broker's have, the last of which its library
// adds.
func (l *life) labelled() prometheus.Registerer {
	return prometheus.WrapRegistererWith(prometheus.Labels{
		"cluster": l.cfg.BrokerClusterName, "node_id": l.cfg.BrokerName, "node_type": "broker", "otel_scope_name": "broker-meter",
	}, l.metrics)
}

func (l *life) timeline() clock.TimelineOptions {
	opts := clock.TimelineOptions{Log: l.log.WithField("part", "clock"), Wall: l.cfg.wall}
	if l.memory == nil {
		opts.File = filepath.Join(l.cfg.StorePathRootDir, "config", "wheelmqClock.json")
	}
	return opts
}

// startTimeline runs the store's clock; it is closed after the broker, which needs it.
func (l *life) startTimeline(timeline *clock.Timeline) error {
	timeline.Start()
	l.onClose("clock", func(context.Context) error { return timeline.Close() })
	l.health.Register("clock", func() health.Result {
		if err := timeline.SaveError(); err != nil {
			return health.Result{State: health.Degraded, Reason: "a restart may move store time: " + err.Error()}
		}
		return health.Result{State: health.Up}
	})
	return metrics.Register(l.metrics, "wheelmq", metrics.Gauge("wheelmq_clock_wall_offset_ms",
		"What the wall clock is ahead of store time: its steps, which store time does not follow.",
		func() int64 { return timeline.WallOffset().Milliseconds() }))
}

// waiting is how many requests of a class wait for a worker of the broker's port.
func (l *life) waiting(class remoting.Class) int {
	if s := l.brokerServer.Load(); s != nil {
		return s.Waiting(class)
	}
	return 0
}

// listen opens the broker's port and, when the port was chosen, the VIP port two below.
func (l *life) listen(b *broker.Broker) error {
	s, err := l.brokerListener("broker", int(l.ports.broker), b)
	if err != nil {
		return err
	}
	l.brokerServer.Store(s)
	if err := l.labelled().Register(watermarks{s}); err != nil {
		return fmt.Errorf("wheelmq: register metrics: %w", err)
	}
	if l.cfg.ListenPort == 0 || l.ports.broker <= 2 {
		return nil
	}
	if _, err := l.brokerListener("broker-vip", int(l.ports.broker)-2, b); err != nil {
		l.log.WithError(err).Warn("the VIP port is not served: old clients with vipChannelEnabled cannot send")
	}
	return nil
}

// refusedAtStop are the requests whose clients know that a broker may be away, and wait for their
// answers otherwise: the Go client until its time-out, whatever becomes of the connection.
var refusedAtStop = []int32{
	remoting.SendMessage, remoting.SendMessageV2, remoting.SendBatchMessage, remoting.PullMessage, remoting.LitePullMessage,
}

func (l *life) brokerListener(name string, port int, b *broker.Broker) (*server.Server, error) {
	loops := l.cfg.EventLoops
	if name != "broker" {
		loops = 1
	}
	s, err := server.New(server.Options{
		Name: name, Addr: hostPort(l.cfg.BindAddress, port), Router: b.Router(), OnClose: b.ConnClosed, NumEventLoop: loops, Log: l.log, Observer: b.Observer(),
		RefusedAtStop: refusedAtStop,
		Metrics:       prometheus.WrapRegistererWith(prometheus.Labels{"port": name}, l.metrics),
	})
	if err != nil {
		return nil, err
	}
	if err := s.Start(); err != nil {
		return nil, err
	}
	l.servers = append(l.servers, s)
	l.onClose(name+" port", s.Close)
	l.watch(name+" port", s)
	return s, nil
}

// watch shows a listener that has ended by itself.
func (l *life) watch(part string, s *server.Server) {
	l.health.RegisterServing(part, func() health.Result {
		select {
		case <-s.Ended():
			return health.Result{State: health.Down, Restart: true, Reason: "the listener on " + s.Addr().String() + " has ended, see the log"}
		default:
			return health.Result{State: health.Up}
		}
	})
}
