// Package wheelmq is a RocketMQ-compatible server for embedding: name server and broker in one
// process, many instances per process. It is the only place where all parts meet.
package wheelmq

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker/rewind"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/config"
	"github.com/wheelmq/wheelmq/console"
	"github.com/wheelmq/wheelmq/control"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/fault"
	"github.com/wheelmq/wheelmq/remoting/exchangelog"
	"github.com/wheelmq/wheelmq/store/region"
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
	// AdminToken admits whoever sends it as bearer to /admin/ on the HTTP port; "": programs on this
	// machine only.
	AdminToken string
	// Test makes the instance one for tests: they may look into it, turn its clock and make it
	// fail. nil: a server like any other.
	Test *TestConfig

	wall func() time.Time // the wall clock, nil: the machine's
}

// Instance is a running server.
type Instance struct {
	cfg         Config
	log         logrus.FieldLogger
	differences *difference.Set
	console     *console.Console
	control     *control.Control
	faults      *fault.Rules // nil: a server like any other, as exchanges
	exchanges   *exchangelog.Log
	ports       ports

	rewound atomic.Pointer[rewind.Memory] // what clients remember of a state that was taken back
	turn    sync.Mutex                    // held while one life ends and the next begins

	mu        sync.RWMutex // guards what follows
	life      *life        // nil between two
	beginning *life        // the next one, while it begins
	down      error        // why there is none
	memory    *region.Memory
	snapshots map[string]*region.Memory
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
	if err := cfg.Test.check(); err != nil {
		return nil, err
	}
	differences, err := difference.NewSet(cfg.Profile)
	if err != nil {
		return nil, err
	}
	i := &Instance{cfg: cfg, log: cfg.Log, differences: differences}
	if cfg.Test != nil {
		i.faults = fault.New(fault.Options{Wire: clock.Real{}, Log: cfg.Log})
		i.exchanges = exchangelog.New(exchangelog.Options{Wire: clock.Real{}})
		if cfg.Test.Memory {
			i.memory = region.NewMappedMemory()
		}
	}
	i.control = control.New(control.Options{Server: controlled{i}, Differences: differences, Faults: i.faults, Exchanges: i.exchanges})
	if err := i.start(); err != nil {
		return nil, errors.Join(err, i.Close(context.WithoutCancel(ctx)))
	}
	return i, nil
}

func (i *Instance) start() error {
	if err := i.ports.choose(&i.cfg); err != nil {
		return err
	}
	i.leave(errStarting)
	// First, so that whoever asks is told that the server starts: a recovery may take its time. A
	// free port nobody knows yet, and it may be one that another part is to have.
	early := i.cfg.HTTPPort != 0
	if early {
		if err := i.listen(); err != nil {
			return err
		}
	}
	if err := i.begin(); err != nil || early {
		return err
	}
	return i.listen()
}

// listen opens the HTTP port.
func (i *Instance) listen() error {
	c := console.New(console.Options{
		Addr: hostPort(i.cfg.BindAddress, i.cfg.HTTPPort), Health: reporter{i}, Metrics: prometheus.GathererFunc(i.gather), Log: i.log,
		Handlers: i.handlers(),
	})
	if err := c.Start(); err != nil {
		return err
	}
	i.console = c
	return nil
}

// errStarting is why there is no life yet.
var errStarting = errors.New("starting")

// gather are the metrics of the life there is.
func (i *Instance) gather() ([]*dto.MetricFamily, error) {
	if l := i.current(); l != nil {
		return l.metrics.Gather()
	}
	return nil, nil
}

// NameServerAddr is what a client on this machine sets as its name server; "" without one.
func (i *Instance) NameServerAddr() string {
	if i.cfg.WithoutNameServer {
		return ""
	}
	return local(i.cfg.BindAddress, i.ports.namesrv)
}

// BrokerAddr is the broker's address for clients on this machine; "" without one.
func (i *Instance) BrokerAddr() string {
	if i.cfg.WithoutBroker {
		return ""
	}
	return local(i.cfg.BindAddress, i.ports.broker)
}

// HTTPAddr is where /health and /metrics are, for programs on this machine.
func (i *Instance) HTTPAddr() string {
	addr, err := netip.ParseAddrPort(i.console.Addr())
	if err != nil {
		return i.console.Addr()
	}
	return local(addr.Addr().String(), addr.Port())
}

// Differences are what clients relied on that the real broker lacks, by name, with counts.
func (i *Instance) Differences() map[string]int64 { return i.differences.Used() }

// logDifferences tells a test's log what it must not rely on in production.
func (i *Instance) logDifferences() {
	if i.cfg.Test == nil {
		return
	}
	for _, d := range i.control.Differences() {
		i.log.WithFields(logrus.Fields{"difference": d.Name, "count": d.Count, "rocketmq": d.Real, "wheelmq": d.Ours}).
			Info("clients relied on what RocketMQ 5.5.0 does not do")
	}
}

// Control is what tests do with the instance beside what clients do.
func (i *Instance) Control() *control.Control { return i.control }

// Close stops everything. What was acknowledged is on disk when it returns.
func (i *Instance) Close(ctx context.Context) error {
	var all []error
	// Before the turn: a request under way may wait for it.
	if i.console != nil {
		all = append(all, i.console.Close(ctx))
	}
	i.turn.Lock()
	defer i.turn.Unlock()
	i.logDifferences()
	if l := i.leave(errors.New("closed")); l != nil {
		all = append(all, l.close(ctx))
	}
	if i.faults != nil {
		all = append(all, i.faults.Close())
	}
	return errors.Join(append(all, i.ports.release())...)
}
