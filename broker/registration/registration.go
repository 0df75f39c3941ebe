// Package registration keeps a broker registered with external name servers: at start,
// periodically, at every change of its topics, and anew as soon as a name server that was
// gone is back. Each name server has a goroutine and a connection of its own, so that one
// that hangs delays no other.
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
	minRetryMs  = 500
	maxRetryMs  = 4_000
	callTimeout = 5 * time.Second

	leaveTimeout = time.Second
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
	FixedAddress bool
	// Only says that no other name server knows the broker: without these no client finds it.
	Only             bool
	Topics           Topics
	BrokerPermission func() int32 // brokerPermission
	PeriodMs         int64        // registerNameServerPeriod, clamped to 10–60 s
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
	conn   *client.Conn // of the goroutine

	mu         sync.Mutex // guards what follows
	registered bool       // by the last registration
	err        error      // of the last registration
	changed    map[string]remoting.TopicConfig
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
	s.opts.Topics.OnChange(func(changed []*topic.Config, _ []string) {
		// A deleted topic is not told: name servers keep it until the admin deletes it there.
		for _, l := range s.links {
			l.note(changed)
		}
	})
	if s.opts.Health != nil {
		s.opts.Health.RegisterServing("registration", s.check)
	}
	for _, l := range s.links {
		s.wg.Add(1)
		go l.run()
	}
}

// Close unregisters and stops. A name server that does not answer delays it by a second.
func (s *Service) Close(context.Context) error {
	close(s.stop)
	s.cancel()
	s.wg.Wait()
	return nil
}

// check is down while no client finds the broker, degraded while some may not.
func (s *Service) check() health.Result {
	registered, reason := 0, ""
	for _, l := range s.links {
		l.mu.Lock()
		switch {
		case l.registered:
			registered++
		case l.err != nil:
			reason = fmt.Sprintf("name server %s: %v", l.addr, l.err)
		case s.opts.Only && reason == "":
			reason = fmt.Sprintf("name server %s: not registered yet", l.addr)
		}
		l.mu.Unlock()
	}
	switch {
	case reason == "":
		return health.Result{State: health.Up}
	case s.opts.Only && registered == 0:
		return health.Result{State: health.Down, Reason: "no client finds this broker: " + reason}
	}
	return health.Result{State: health.Degraded, Reason: reason}
}

// note keeps changed topics for the next incremental registration.
func (l *link) note(changed []*topic.Config) {
	if len(changed) == 0 {
		return
	}
	l.mu.Lock()
	if l.changed == nil {
		l.changed = make(map[string]remoting.TopicConfig)
	}
	for _, config := range changed {
		l.changed[config.TopicName] = *config
	}
	l.mu.Unlock()
	select {
	case l.change <- struct{}{}:
	default:
	}
}

// take returns the changed topics and forgets them.
func (l *link) take() map[string]remoting.TopicConfig {
	l.mu.Lock()
	defer l.mu.Unlock()
	changed := l.changed
	l.changed = nil
	return changed
}

func (l *link) run() {
	defer l.s.wg.Done()
	timer := l.s.opts.Wire.NewTimer()
	defer timer.Disarm()
	defer l.leave()
	retry := int64(minRetryMs)
	for {
		err := l.registerAll()
		if l.s.baseCtx.Err() != nil {
			return
		}
		l.settle(err)
		if err == nil {
			retry = minRetryMs
			timer.Arm(l.s.opts.Wire.NowMillis() + l.s.opts.PeriodMs)
		} else {
			timer.Arm(l.s.opts.Wire.NowMillis() + retry)
			retry = min(2*retry, maxRetryMs)
		}
		if !l.wait(timer) {
			return
		}
	}
}

// wait returns when everything is to be registered; false when the service stops. Meanwhile
// it registers changed topics.
func (l *link) wait(timer clock.Timer) bool {
	for {
		var lost <-chan struct{}
		if l.conn != nil {
			lost = l.conn.Done()
		}
		select {
		case <-l.s.stop:
			return false
		case <-timer.C():
			return true
		case <-lost:
			l.settle(l.conn.Err())
			// A name server that restarts is not back at once.
			timer.Arm(l.s.opts.Wire.NowMillis() + minRetryMs)
		case <-l.change:
			if l.conn == nil {
				// The registration after the reconnection brings all topics.
				continue
			}
			if l.registerChanged() != nil {
				// It may have forgotten us, and refuses a part of a broker it does not know.
				return true
			}
		}
	}
}

// settle keeps the outcome for the health check and logs when it changes.
func (l *link) settle(err error) {
	l.mu.Lock()
	before := l.err
	l.err, l.registered = err, err == nil
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

// registerAll registers with every topic, over a new connection if there is none.
func (l *link) registerAll() error {
	ctx, cancel := context.WithTimeout(l.s.baseCtx, callTimeout)
	defer cancel()
	if l.conn == nil {
		conn, err := client.Dial(ctx, l.addr)
		if err != nil {
			return err
		}
		l.conn = conn
	}
	// What changes from here on is in the table or will be noted again.
	l.take()
	return l.register(ctx, l.s.opts.Topics.Wrapper())
}

// registerChanged registers the changed topics alone.
func (l *link) registerChanged() error {
	changed := l.take()
	if len(changed) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(l.s.baseCtx, callTimeout)
	defer cancel()
	wrapper := l.s.opts.Topics.Wrapper()
	wrapper.TopicConfigTable = changed
	return l.register(ctx, wrapper)
}

func (l *link) register(ctx context.Context, wrapper remoting.TopicConfigWrapper) error {
	topic.Restrict(wrapper.TopicConfigTable, l.s.opts.BrokerPermission())
	body, err := fastjson.Marshal(remoting.RegisterBrokerBody{FilterServerList: []string{}, TopicConfigSerializeWrapper: wrapper})
	if err != nil {
		return fmt.Errorf("registration: %w", err)
	}
	identity := l.identity()
	replicas, err := haAddr(identity.BrokerAddr)
	if err != nil {
		return fmt.Errorf("registration: %w", err)
	}
	header := remoting.RegisterBrokerRequest{
		BrokerIdentity: identity, HAServerAddr: replicas, BodyCRC32: int64(crc32.ChecksumIEEE(body) & 0x7FFFFFFF),
	}
	var ext remoting.ExtWriter
	header.Encode(&ext)
	_, err = l.conn.Call(ctx, remoting.RegisterBroker, &ext, body)
	return err
}

// haAddr is where a replica would connect to: one port above the broker's.
func haAddr(brokerAddr string) (string, error) {
	host, port, err := net.SplitHostPort(brokerAddr)
	if err != nil {
		return "", err
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return "", fmt.Errorf("broker address %s: %w", brokerAddr, err)
	}
	return net.JoinHostPort(host, strconv.FormatUint(n+1, 10)), nil
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
	ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
	defer cancel()
	identity := l.identity()
	var ext remoting.ExtWriter
	identity.Encode(&ext)
	if _, err := l.conn.Call(ctx, remoting.UnregisterBroker, &ext, nil); err != nil {
		l.s.opts.Log.WithError(err).WithField("nameServer", l.addr).Debug("not unregistered")
	}
	_ = l.conn.Close()
}
