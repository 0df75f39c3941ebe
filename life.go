package wheelmq

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker"
	"github.com/wheelmq/wheelmq/broker/registration"
	"github.com/wheelmq/wheelmq/broker/rewind"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/fault"
	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/namesrv"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/remoting/exchangelog"
	"github.com/wheelmq/wheelmq/server"
	"github.com/wheelmq/wheelmq/store/region"
)

// closeLimit bounds what workers and clients can hold up a stop.
const closeLimit = 30 * time.Second

// life is name server and broker from a start to a stop. An instance has one after the other,
// on the same ports.
type life struct {
	cfg         *Config
	ports       *ports
	log         logrus.FieldLogger
	memory      *region.Memory // holds the store; nil: the directory
	differences *difference.Set
	faults      *fault.Rules // nil: a server like any other, as exchanges
	exchanges   *exchangelog.Log
	rewound     *rewind.Memory // nil unless a test took the store back
	health      *health.Registry
	metrics     *prometheus.Registry

	namesrv       *namesrv.Server
	namesrvServer *server.Server
	outside       atomic.Pointer[registration.Service] // nil: there are no other name servers
	broker        *broker.Broker
	brokerServer  atomic.Pointer[server.Server] // nil before it is open
	storeHost     netip.AddrPort                // the broker's address in message ids
	advertised    advertised

	// step is what the beginning of this life is at, in words; nil before there is something to tell.
	step atomic.Pointer[string]

	servers []*server.Server
	closers []closer // in the order of starting
}

type closer struct {
	what  string
	close func(context.Context) error
}

// begin starts what the configuration asks for; when it returns, every port accepts and the
// broker has a route.
func (l *life) begin() error {
	l.health, l.metrics = health.NewRegistry(), prometheus.NewRegistry()
	l.metrics.MustRegister(collectors.NewGoCollector())
	if !l.cfg.WithoutNameServer {
		if err := l.startNameServer(); err != nil {
			return err
		}
	}
	if l.cfg.WithoutBroker {
		return nil
	}
	return l.startBroker()
}

// doing is what the beginning of this life is at, in words.
func (l *life) doing() string {
	if step := l.step.Load(); step != nil {
		return *step
	}
	return "what is stored is looked at"
}

func (l *life) onClose(what string, f func(context.Context) error) {
	l.closers = append(l.closers, closer{what, f})
}

// close stops everything in the reverse of its order. What was acknowledged is on disk when
// it returns.
func (l *life) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, closeLimit)
	defer cancel()
	l.sendConsumersAway()
	var all []error
	for n := len(l.closers) - 1; n >= 0; n-- {
		if err := l.closers[n].close(ctx); err != nil {
			all = append(all, fmt.Errorf("close %s: %w", l.closers[n].what, err))
		}
	}
	l.closers = nil
	return errors.Join(all...)
}

// before are the steps before the handlers of clients' requests.
func (l *life) before(server string) []remoting.Step {
	if l.faults == nil {
		return nil
	}
	return []remoting.Step{l.exchanges.Before(server), l.faults.Before}
}

// lastAnswersMs is how long pulls are still answered when nothing is held any more, ms: a
// client that has just got messages pulls again at once.
const lastAnswersMs = 20

// sendConsumersAway answers the pulls that wait, and those that come right after, so that clients
// come again soon instead of waiting for answers that were lost with their connections.
func (l *life) sendConsumersAway() {
	s := l.brokerServer.Load()
	if l.broker == nil || s == nil || s.Connections() == 0 {
		return
	}
	l.broker.StopHolding()
	real := clock.Real{}
	timer := real.NewTimer()
	timer.Arm(real.NowMillis() + lastAnswersMs)
	<-timer.C()
}

// cut breaks every connection off; nothing is answered any more.
func (l *life) cut() {
	for _, s := range l.servers {
		s.Abort()
	}
}

// tree is the root of what is kept.
func (l *life) tree() region.FS {
	if l.memory != nil {
		return l.memory
	}
	return region.OS{Root: l.cfg.StorePathRootDir}
}

func (l *life) startNameServer() error {
	opts := namesrv.Options{
		Wire: clock.Real{}, Log: l.log.WithField("part", "namesrv"), Differences: l.differences, Health: l.health, Metrics: l.metrics,
	}
	if l.faults != nil {
		opts.Missing = l.faults.BrokerMissing
	}
	ns := namesrv.New(opts)
	if err := ns.OpenKVConfig(l.tree(), "namesrv/kvConfig.json"); err != nil {
		return err
	}
	ns.SetTopicEnsurer(func(topic string) bool { return l.broker != nil && l.broker.EnsureRetryTopic(topic) })
	router := remoting.NewRouter(ns.Routes(), remoting.RouterOptions{Before: l.before("namesrv"), Log: l.log})
	s, err := server.New(server.Options{
		Name: "namesrv", Addr: hostPort(l.cfg.BindAddress, int(l.ports.namesrv)), Router: router, OnClose: ns.ConnClosed,
		NumEventLoop: 1, Log: l.log, Metrics: prometheus.WrapRegistererWith(prometheus.Labels{"port": "namesrv"}, l.metrics),
	})
	if err != nil {
		return err
	}
	if err := s.Start(); err != nil {
		return err
	}
	l.namesrv, l.namesrvServer = ns, s
	l.servers = append(l.servers, s)
	l.watch("name server port", s)
	ns.Start()
	l.onClose("name server", func(ctx context.Context) error { return errors.Join(s.Close(ctx), ns.Close()) })
	return nil
}
