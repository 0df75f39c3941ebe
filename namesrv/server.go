package namesrv

import (
	"hash/crc32"
	"net/netip"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/health"
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
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "wheelmq_namesrv_brokers", Help: "Broker addresses registered with the name server."},
			func() float64 { n, _ := s.table.Counts(); return float64(n) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "wheelmq_namesrv_topics", Help: "Topics that the name server knows."},
			func() float64 { _, n := s.table.Counts(); return float64(n) }),
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
	if s.opts.Metrics != nil {
		for _, g := range s.gauges {
			if err := s.opts.Metrics.Register(g); err != nil {
				s.opts.Log.WithError(err).Warn("name server metrics are not available")
			}
		}
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
		if next > 0 {
			timer.Arm(next)
		} else {
			timer.Disarm()
		}
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

// Routes returns the table rows.
func (s *Server) Routes() []remoting.Route {
	const test = "namesrv/namesrv_test.go"
	row := func(code int32, name string, handler remoting.Handler, since string) remoting.Route {
		return remoting.Route{Code: code, Name: name, Handler: handler, Since: since, Test: test}
	}
	// Writes a file, so it must not run on the event loop.
	onWorker := func(r remoting.Route) remoting.Route {
		r.Class = remoting.Admin
		return r
	}
	partial := func(r remoting.Route, note string) remoting.Route {
		r.Status, r.Note = remoting.Partial, note
		return r
	}
	return append(refused(),
		row(remoting.RegisterBroker, "REGISTER_BROKER", s.register, "3.0"),
		row(remoting.UnregisterBroker, "UNREGISTER_BROKER", s.unregister, "3.0"),
		row(remoting.QueryDataVersion, "QUERY_DATA_VERSION", s.dataVersion, "4.3"),
		row(remoting.GetRouteInfoByTopic, "GET_ROUTEINFO_BY_TOPIC", s.route, "3.0"),
		row(remoting.GetBrokerClusterInfo, "GET_BROKER_CLUSTER_INFO", s.cluster, "3.0"),
		row(remoting.GetAllTopicListFromNameserver, "GET_ALL_TOPIC_LIST_FROM_NAMESERVER", s.topics, "3.0"),
		row(remoting.GetTopicsByCluster, "GET_TOPICS_BY_CLUSTER", s.topicsByCluster, "3.0"),
		row(remoting.GetSystemTopicListFromNS, "GET_SYSTEM_TOPIC_LIST_FROM_NS", s.systemTopics, "3.0"),
		row(remoting.DeleteTopicInNamesrv, "DELETE_TOPIC_IN_NAMESRV", s.deleteTopic, "3.0"),
		row(remoting.WipeWritePermOfBroker, "WIPE_WRITE_PERM_OF_BROKER", s.wipeWritePerm, "3.0"),
		row(remoting.AddWritePermOfBroker, "ADD_WRITE_PERM_OF_BROKER", s.addWritePerm, "4.9"),
		onWorker(row(remoting.PutKVConfig, "PUT_KV_CONFIG", s.kv.put, "3.0")),
		row(remoting.GetKVConfig, "GET_KV_CONFIG", s.kv.get, "3.0"),
		onWorker(row(remoting.DeleteKVConfig, "DELETE_KV_CONFIG", s.kv.delete, "3.0")),
		row(remoting.GetKVListByNamespace, "GET_KVLIST_BY_NAMESPACE", s.kv.list, "3.0"),
		row(registerTopicInNamesrv, "REGISTER_TOPIC_IN_NAMESRV", s.registerTopic, "4.9"),
		row(getUnitTopicList, "GET_UNIT_TOPIC_LIST", s.topicsByFlag(func(f int32) bool { return f&flagUnit != 0 }), "3.2"),
		row(getHasUnitSubTopicList, "GET_HAS_UNIT_SUB_TOPIC_LIST", s.topicsByFlag(func(f int32) bool { return f&flagUnitSub != 0 }), "3.2"),
		row(getHasUnitSubUnunitTopicList, "GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST",
			s.topicsByFlag(func(f int32) bool { return f&(flagUnit|flagUnitSub) == flagUnitSub }), "3.2"),
		partial(row(remoting.UpdateNamesrvConfig, "UPDATE_NAMESRV_CONFIG", s.updateConfig, "4.0"),
			"until the next start; keys without an effect here are refused"),
		row(remoting.GetNamesrvConfig, "GET_NAMESRV_CONFIG", s.getConfig, "4.0"),
		row(getBrokerMemberGroup, "GET_BROKER_MEMBER_GROUP", s.memberGroup, "5.0"),
		row(brokerHeartbeat, "BROKER_HEARTBEAT", s.heartbeat, "5.0"),
	)
}

// advertiseOf is advertise for an answer about a topic, which a test may want without the broker
// of this process; topic "" is the cluster.
func (s *Server) advertiseOf(conn remoting.Conn, topic string) Advertise {
	known := s.advertise(conn)
	if s.opts.Missing == nil {
		return known
	}
	asked, missing := false, false
	return func(r *Registration) string {
		if r.ConnID == 0 && !asked {
			asked, missing = true, s.opts.Missing(topic)
		}
		if r.ConnID == 0 && missing {
			return ""
		}
		return known(r)
	}
}

// advertise returns the address of each broker as the asking client should use it.
func (s *Server) advertise(conn remoting.Conn) Advertise {
	return func(r *Registration) string {
		reached := conn.LocalAddr().Addr()
		if r.AdvertisedTo != nil {
			if addr := r.AdvertisedTo(reached, conn.RemoteAddr().Addr()); addr != "" {
				return addr
			}
		}
		if r.LocalPort == 0 || !reached.IsValid() {
			return r.BrokerAddr
		}
		seen := netip.AddrPortFrom(reached.Unmap().WithZone(""), r.LocalPort).String()
		// Only an answer that the real broker would not give counts as a use.
		if seen == r.BrokerAddr || !s.opts.Differences.Use(difference.AdvertiseReachedAddress) {
			return r.BrokerAddr
		}
		return seen
	}
}

func (s *Server) register(ex *remoting.Exchange) error {
	ex.Reply.Ext.Open()
	var req remoting.RegisterBrokerRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	if req.BodyCRC32 != 0 && int64(crc32.ChecksumIEEE(ex.Req.Body)&0x7FFFFFFF) != req.BodyCRC32 {
		return remoting.Errorf(remoting.SystemError, "crc32 not match")
	}
	topics, err := decodeRegisterBody(ex.Req.Body, req.Compressed, ex.Req.Version)
	if err != nil {
		return &remoting.Error{Code: remoting.SystemError, Remark: "register broker failed: " + err.Error()}
	}
	r := Registration{
		BrokerIdentity: req.BrokerIdentity, HAServerAddr: req.HAServerAddr, EnableActingMaster: req.EnableActingMaster,
		TimeoutMs: req.HeartbeatTimeoutMillis, ConnID: ex.Conn.ID(), Topics: *topics,
	}
	_, r.KnowsActingMaster = ex.Req.Ext.Get("enableActingMaster")
	if zone, ok := ex.Req.Ext.Get("__ZONE_NAME"); ok {
		r.ZoneName = string(zone)
	}
	result, ok := s.table.Register(r, s.opts.Wire.NowMillis(), s.advertise(ex.Conn))
	if !ok {
		return remoting.Errorf(remoting.SystemError, "register broker failed")
	}
	select {
	case s.kick <- struct{}{}:
	default:
	}
	if result.MasterAddr != "" {
		ex.Reply.Ext.String("masterAddr", result.MasterAddr)
		ex.Reply.Ext.String("haServerAddr", result.HAServerAddr)
	}
	if table := s.kv.namespace(orderNamespace); len(table) > 0 && s.config.on("returnOrderTopicConfigToBroker") {
		return encode(ex, remoting.KVTable{Table: table})
	}
	return nil
}

func (s *Server) unregister(ex *remoting.Exchange) error {
	var req remoting.UnregisterBrokerRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	removed := s.table.Unregister(req, ex.Conn.ID())
	s.opts.Log.WithFields(logrus.Fields{"broker": req.BrokerName, "addr": req.BrokerAddr, "removed": removed}).Info("a broker unregistered")
	return nil
}

func (s *Server) dataVersion(ex *remoting.Exchange) error {
	var req remoting.QueryDataVersionRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	var theirs remoting.DataVersion
	if err := fastjson.Unmarshal(ex.Req.Body, &theirs); err != nil {
		return &remoting.Error{Code: remoting.SystemError, Remark: "data version: " + err.Error()}
	}
	version, known := s.table.Seen(req, s.opts.Wire.NowMillis())
	ex.Reply.Ext.Bool("changed", !known || version != theirs)
	if !known {
		return nil
	}
	return encode(ex, version)
}

func (s *Server) route(ex *remoting.Exchange) error {
	var req remoting.GetRouteInfoRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	advertise := s.advertiseOf(ex.Conn, req.Topic)
	route, ok := s.table.Route(req.Topic, advertise)
	if !ok && s.ensureRetry(req.Topic) {
		route, ok = s.table.Route(req.Topic, advertise)
	}
	if !ok {
		return remoting.Errorf(remoting.TopicNotExist,
			"No topic route info in name server for the topic: %s\nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details.", req.Topic)
	}
	if s.config.on("orderMessageEnable") {
		route.OrderTopicConf, _ = s.kv.value(orderNamespace, req.Topic)
	}
	quoted := req.AcceptStandardJSONOnly || ex.Req.Version >= standardJSONVersion
	ex.Reply.Body = appendRoute(nil, &route, quoted)
	return nil
}

// ensureRetry asks the broker of this process for the retry topic of a group that a client
// looks up before its first heartbeat.
func (s *Server) ensureRetry(topic string) bool {
	if s.ensure == nil || len(topic) <= len(retryPrefix) || !strings.HasPrefix(topic, retryPrefix) ||
		!s.opts.Differences.On(difference.RetryRouteAtFirstQuery) {
		return false
	}
	return s.ensure(topic)
}

func (s *Server) cluster(ex *remoting.Exchange) error {
	return encode(ex, s.table.Cluster(s.advertiseOf(ex.Conn, "")))
}

func (s *Server) topics(ex *remoting.Exchange) error {
	if !s.config.on("enableAllTopicList") {
		return remoting.Errorf(remoting.SystemError, "disable")
	}
	return encode(ex, remoting.TopicList{TopicList: s.table.Topics("")})
}

func (s *Server) topicsByCluster(ex *remoting.Exchange) error {
	var req remoting.GetTopicsByClusterRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	return encode(ex, remoting.TopicList{TopicList: s.table.Topics(req.Cluster)})
}

func (s *Server) systemTopics(ex *remoting.Exchange) error {
	return encode(ex, s.table.SystemNames(s.advertiseOf(ex.Conn, "")))
}

func (s *Server) deleteTopic(ex *remoting.Exchange) error {
	var req remoting.DeleteTopicInNamesrvRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	s.table.DeleteTopic(req.Topic, req.ClusterName)
	return nil
}

func (s *Server) wipeWritePerm(ex *remoting.Exchange) error {
	return s.setWritable(ex, false, "wipeTopicCount")
}

func (s *Server) addWritePerm(ex *remoting.Exchange) error {
	return s.setWritable(ex, true, "addTopicCount")
}

func (s *Server) setWritable(ex *remoting.Exchange, writable bool, field string) error {
	var req remoting.WritePermRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	ex.Reply.Ext.Int(field, int64(s.table.SetWritable(req.BrokerName, writable)))
	return nil
}

func encode(ex *remoting.Exchange, v any) error {
	body, err := fastjson.Marshal(v)
	ex.Reply.Body = body
	return err
}
