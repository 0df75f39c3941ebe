// Package registration keeps a broker registered with external name servers: at start,
// periodically, and at every change of its topics.
package registration

import (
	"context"
	"fmt"
	"hash/crc32"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/remoting/client"
	"github.com/wheelmq/wheelmq/remoting/fastjson"
)

const (
	minPeriodMs = 10_000
	maxPeriodMs = 60_000
	retryMs     = 1_000
	callTimeout = 5 * time.Second
)

// Topics is the broker's topic table.
type Topics interface {
	Wrapper() remoting.TopicConfigWrapper
	OnChange(f func(changed []*topic.Config, deleted []string))
}

// Options are what a Service needs.
type Options struct {
	NameServers string // host:port;host:port
	Identity    remoting.BrokerIdentity
	// FixedAddress says that Identity's address was configured. Otherwise each name server is
	// told the address from which we reach it.
	FixedAddress     bool
	Topics           Topics
	BrokerPermission int32
	PeriodMs         int64 // registerNameServerPeriod, clamped to 10–60 s
	Wire             clock.Clock
	Log              logrus.FieldLogger
	Health           *health.Registry
}

// Service registers with every name server, each on a goroutine of its own.
type Service struct {
	opts    Options
	links   []*link
	stop    chan struct{}
	wg      sync.WaitGroup
	baseCtx context.Context
	cancel  context.CancelFunc
}

// link is the relation to one name server.
type link struct {
	s      *Service
	addr   string
	change chan struct{}
	conn   *client.Conn

	mu  sync.Mutex // guards err
	err error      // of the last registration
}

// New checks the addresses.
func New(opts Options) (*Service, error) {
	s := &Service{opts: opts, stop: make(chan struct{})}
	s.baseCtx, s.cancel = context.WithCancel(context.Background())
	s.opts.PeriodMs = min(max(opts.PeriodMs, minPeriodMs), maxPeriodMs)
	for addr := range strings.SplitSeq(opts.NameServers, ";") {
		if addr = strings.TrimSpace(addr); addr == "" {
			continue
		}
		if _, _, err := net.SplitHostPort(addr); err != nil {
			return nil, fmt.Errorf("config: namesrvAddr %q: %w", addr, err)
		}
		s.links = append(s.links, &link{s: s, addr: addr, change: make(chan struct{}, 1)})
	}
	return s, nil
}

// Start begins to register.
func (s *Service) Start() {
	s.opts.Topics.OnChange(func([]*topic.Config, []string) {
		for _, l := range s.links {
			select {
			case l.change <- struct{}{}:
			default:
			}
		}
	})
	if s.opts.Health != nil {
		s.opts.Health.Register("registration", s.check)
	}
	for _, l := range s.links {
		s.wg.Add(1)
		go l.run()
	}
}

// Close unregisters and stops.
func (s *Service) Close(context.Context) error {
	close(s.stop)
	s.cancel()
	s.wg.Wait()
	return nil
}

func (s *Service) check() health.Result {
	for _, l := range s.links {
		l.mu.Lock()
		err := l.err
		l.mu.Unlock()
		if err != nil {
			return health.Result{State: health.Degraded, Reason: fmt.Sprintf("name server %s: %v", l.addr, err)}
		}
	}
	return health.Result{State: health.Up}
}

func (l *link) run() {
	defer l.s.wg.Done()
	timer := l.s.opts.Wire.NewTimer()
	defer timer.Disarm()
	defer l.leave()
	for {
		wait := l.s.opts.PeriodMs
		if err := l.register(); err != nil {
			wait = retryMs
			l.note(err)
		} else {
			l.note(nil)
		}
		timer.Arm(l.s.opts.Wire.NowMillis() + wait)
		select {
		case <-timer.C():
		case <-l.change:
		case <-l.s.stop:
			return
		}
	}
}

// note keeps the outcome for the health check and logs when it changes.
func (l *link) note(err error) {
	l.mu.Lock()
	before := l.err
	l.err = err
	l.mu.Unlock()
	log := l.s.opts.Log.WithField("nameServer", l.addr)
	switch {
	case err != nil && before == nil:
		log.WithError(err).Warn("the broker is not registered with a name server")
	case err == nil && before != nil:
		log.Info("the broker is registered with a name server again")
	}
	if err != nil && l.conn != nil {
		// Whatever the connection was in the middle of, a new one begins clean.
		_ = l.conn.Close()
		l.conn = nil
	}
}

func (l *link) register() error {
	ctx, cancel := context.WithTimeout(l.s.baseCtx, callTimeout)
	defer cancel()
	if l.conn == nil {
		conn, err := client.Dial(ctx, l.addr)
		if err != nil {
			return err
		}
		l.conn = conn
	}
	wrapper := l.s.opts.Topics.Wrapper()
	for name, config := range wrapper.TopicConfigTable {
		config.Perm &= l.s.opts.BrokerPermission | topic.PermInherit
		wrapper.TopicConfigTable[name] = config
	}
	body, err := fastjson.Marshal(remoting.RegisterBrokerBody{FilterServerList: []string{}, TopicConfigSerializeWrapper: wrapper})
	if err != nil {
		return err
	}
	identity := l.identity()
	host, _, err := net.SplitHostPort(identity.BrokerAddr)
	if err != nil {
		return err
	}
	header := remoting.RegisterBrokerRequest{
		BrokerIdentity: identity, HAServerAddr: net.JoinHostPort(host, strconv.Itoa(l.haPort(identity.BrokerAddr))),
		BodyCRC32: int64(crc32.ChecksumIEEE(body) & 0x7FFFFFFF),
	}
	var ext remoting.ExtWriter
	header.Encode(&ext)
	_, err = l.conn.Call(ctx, remoting.RegisterBroker, &ext, body)
	return err
}

// haPort is the port that a replica would use: one above the broker's.
func (l *link) haPort(brokerAddr string) int {
	_, port, err := net.SplitHostPort(brokerAddr)
	if err != nil {
		return 0
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return 0
	}
	return n + 1
}

// identity is the broker as this name server's clients should reach it.
func (l *link) identity() remoting.BrokerIdentity {
	id := l.s.opts.Identity
	if l.s.opts.FixedAddress {
		return id
	}
	_, port, err := net.SplitHostPort(id.BrokerAddr)
	if err != nil {
		return id
	}
	id.BrokerAddr = net.JoinHostPort(l.conn.LocalAddr().Addr().Unmap().String(), port)
	return id
}

// leave unregisters; a name server that is gone forgets us by itself.
func (l *link) leave() {
	if l.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	identity := l.identity()
	var ext remoting.ExtWriter
	identity.Encode(&ext)
	if _, err := l.conn.Call(ctx, remoting.UnregisterBroker, &ext, nil); err != nil {
		l.s.opts.Log.WithError(err).WithField("nameServer", l.addr).Debug("not unregistered")
	}
	_ = l.conn.Close()
}
