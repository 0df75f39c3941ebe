package namesrv

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/metrics"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/remoting/fastjson"
	"github.com/wheelmq/wheelmq/store/region"
)

// TopicEnsurer makes a topic exist on the broker of this process, if its rules allow, and
// counts the use of the difference retry-route-at-first-query.
type TopicEnsurer func(topic string) bool

// Options are what a Server needs.
type Options struct {
	Wire        clock.Clock
	Log         logrus.FieldLogger
	Differences *difference.Set
	// Settings are values of name server keys, e.g. orderMessageEnable, listenPort.
	Settings map[string]string
	// Missing, when not nil, tells that the broker of this process must be left out of an answer
	// about a topic, or with "" about the cluster, because a test wants it. It is asked at most
	// once for an answer that would name the broker.
	Missing func(topic string) bool
	Health  *health.Registry      // may be nil
	Metrics prometheus.Registerer // may be nil
}

// Server is the name server without its socket.
type Server struct {
	opts   Options
	table  *Table
	kv     *kvConfig
	config *settings
	gauges []prometheus.Collector
	ensure TopicEnsurer
	kick   chan struct{}
	stop   chan struct{}
	wg     sync.WaitGroup
}

// New returns a Server.
func New(opts Options) *Server {
	s := &Server{opts: opts, table: NewTable(), kv: newKVConfig(), config: newSettings(opts.Settings),
		kick: make(chan struct{}, 1), stop: make(chan struct{})}
	s.gauges = []prometheus.Collector{
		metrics.Gauge("wheelmq_namesrv_brokers", "Broker addresses registered with the name server.",
			func() int { n, _ := s.table.Counts(); return n }),
		metrics.Gauge("wheelmq_namesrv_topics", "Topics that the name server knows.",
			func() int { _, n := s.table.Counts(); return n }),
	}
	return s
}

// OpenKVConfig reads kvConfig.json and writes every later change to it. Without it the
// configuration lives in memory. Call it before Start.
func (s *Server) OpenKVConfig(tree region.FS, name string) error {
	s.config.set("kvConfigPath", name)
	return s.kv.open(tree, name, s.opts.Log)
}

// SetTopicEnsurer sets who is asked for a group's retry topic that has no route yet. Call it
// before Start.
func (s *Server) SetTopicEnsurer(ensure TopicEnsurer) { s.ensure = ensure }

// Start begins to expire silent brokers.
func (s *Server) Start() {
	if s.opts.Health != nil {
		s.opts.Health.Register("nameServer", func() health.Result { return health.Result{State: health.Up} })
	}
	if err := metrics.Register(s.opts.Metrics, "namesrv", s.gauges...); err != nil {
		s.opts.Log.WithError(err).Warn("name server metrics are not available")
	}
	s.wg.Add(1)
	go s.expireLoop()
}

// Close stops.
func (s *Server) Close() error {
	close(s.stop)
	s.wg.Wait()
	if s.opts.Metrics != nil {
		for _, g := range s.gauges {
			s.opts.Metrics.Unregister(g)
		}
	}
	return nil
}

func (s *Server) expireLoop() {
	defer s.wg.Done()
	timer := s.opts.Wire.NewTimer()
	defer timer.Disarm()
	for {
		next, gone := s.table.Expire(s.opts.Wire.NowMillis())
		s.report(gone, "a broker did not renew its registration in time")
		clock.Rearm(timer, next)
		select {
		case <-timer.C():
		case <-s.kick:
		case <-s.stop:
			return
		}
	}
}

func (s *Server) report(gone []remoting.BrokerIdentity, why string) {
	for _, id := range gone {
		s.opts.Log.WithFields(logrus.Fields{"broker": id.BrokerName, "brokerId": id.BrokerID, "addr": id.BrokerAddr, "cluster": id.ClusterName}).Warn(why)
	}
}

// RegisterLocal registers the broker of this process, without a socket and without expiry.
func (s *Server) RegisterLocal(r Registration) {
	s.table.Register(r, s.opts.Wire.NowMillis(), func(r *Registration) string { return r.BrokerAddr })
}

// UnregisterLocal takes that back.
func (s *Server) UnregisterLocal(id remoting.BrokerIdentity) { s.table.Unregister(id, 0) }

// DeleteLocalTopic forgets a topic that the broker of this process has deleted.
func (s *Server) DeleteLocalTopic(topic, cluster string) { s.table.DeleteTopic(topic, cluster) }

// ConnClosed forgets the brokers that were registered over a connection.
func (s *Server) ConnClosed(conn remoting.Conn) {
	s.report(s.table.ConnClosed(conn.ID()), "a broker's connection was closed")
}

func encode(ex *remoting.Exchange, v any) error {
	body, err := fastjson.Marshal(v)
	ex.Reply.Body = body
	return err
}
