package namesrv

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"net/netip"
	"strconv"
	"strings"
	"sync"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/remoting/fastjson"
)

// TopicEnsurer makes a topic exist on the broker of this process, if its rules allow.
type TopicEnsurer func(topic string) bool

// Options are what a Server needs.
type Options struct {
	Wire        clock.Clock
	Log         logrus.FieldLogger
	Differences *difference.Set
}

// Server is the name server without its socket.
type Server struct {
	opts   Options
	table  *Table
	kv     *kvConfig
	ensure TopicEnsurer
	kick   chan struct{}
	stop   chan struct{}
	wg     sync.WaitGroup
}

// New returns a Server.
func New(opts Options) *Server {
	return &Server{opts: opts, table: NewTable(), kv: newKVConfig(), kick: make(chan struct{}, 1), stop: make(chan struct{})}
}

// SetTopicEnsurer sets who is asked for a group's retry topic that has no route yet. Call it
// before Start.
func (s *Server) SetTopicEnsurer(ensure TopicEnsurer) { s.ensure = ensure }

// Start begins to expire silent brokers.
func (s *Server) Start() {
	s.wg.Add(1)
	go s.expireLoop()
}

// Close stops.
func (s *Server) Close() error {
	close(s.stop)
	s.wg.Wait()
	return nil
}

func (s *Server) expireLoop() {
	defer s.wg.Done()
	timer := s.opts.Wire.NewTimer()
	defer timer.Disarm()
	for {
		if next := s.table.Expire(s.opts.Wire.NowMillis()); next > 0 {
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

// RegisterLocal registers the broker of this process, without a socket and without expiry.
func (s *Server) RegisterLocal(r Registration) { s.table.Register(r, s.opts.Wire.NowMillis()) }

// UnregisterLocal takes that back.
func (s *Server) UnregisterLocal(id remoting.BrokerIdentity) { s.table.Unregister(id, 0) }

// DeleteLocalTopic forgets a topic that the broker of this process has deleted.
func (s *Server) DeleteLocalTopic(topic, cluster string) { s.table.DeleteTopic(topic, cluster) }

// ConnClosed forgets the brokers that were registered over a connection.
func (s *Server) ConnClosed(conn remoting.Conn) { s.table.ConnClosed(conn.ID()) }

// Routes returns the table rows.
func (s *Server) Routes() []remoting.Route {
	const test = "namesrv/namesrv_test.go"
	row := func(code int32, name string, handler remoting.Handler, since string) remoting.Route {
		return remoting.Route{Code: code, Name: name, Handler: handler, Since: since, Test: test}
	}
	return []remoting.Route{
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
		row(remoting.PutKVConfig, "PUT_KV_CONFIG", s.kv.put, "3.0"),
		row(remoting.GetKVConfig, "GET_KV_CONFIG", s.kv.get, "3.0"),
		row(remoting.DeleteKVConfig, "DELETE_KV_CONFIG", s.kv.delete, "3.0"),
		row(remoting.GetKVListByNamespace, "GET_KVLIST_BY_NAMESPACE", s.kv.list, "3.0"),
	}
}

// advertise returns the address of each broker as the asking client should use it.
func (s *Server) advertise(conn remoting.Conn) Advertise {
	return func(r *Registration) string {
		if r.LocalPort == 0 || !s.opts.Differences.Use(difference.AdvertiseReachedAddress) {
			return r.BrokerAddr
		}
		return netip.AddrPortFrom(conn.LocalAddr().Addr().Unmap(), r.LocalPort).String()
	}
}

func (s *Server) register(ex *remoting.Exchange) error {
	var req remoting.RegisterBrokerRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	if req.BodyCRC32 != 0 && int64(crc32.ChecksumIEEE(ex.Req.Body)&0x7FFFFFFF) != req.BodyCRC32 {
		return remoting.Errorf(remoting.SystemError, "crc32 not match")
	}
	var body remoting.RegisterBrokerBody
	var err error
	if req.Compressed {
		body, err = decompressBody(ex.Req.Body)
	} else if len(ex.Req.Body) > 0 {
		err = fastjson.Unmarshal(ex.Req.Body, &body)
	}
	if err != nil {
		return &remoting.Error{Code: remoting.SystemError, Remark: "register broker failed: " + err.Error()}
	}
	ok := s.table.Register(Registration{
		BrokerIdentity: req.BrokerIdentity, HAServerAddr: req.HAServerAddr, EnableActingMaster: req.EnableActingMaster,
		TimeoutMs: req.HeartbeatTimeoutMillis, ConnID: ex.Conn.ID(), Topics: body.TopicConfigSerializeWrapper,
	}, s.opts.Wire.NowMillis())
	if !ok {
		return remoting.Errorf(remoting.SystemError, "register broker failed")
	}
	select {
	case s.kick <- struct{}{}:
	default:
	}
	ex.Reply.Ext.Open()
	if table := s.kv.namespace("ORDER_TOPIC_CONFIG"); len(table) > 0 {
		return encode(ex, remoting.KVTable{Table: table})
	}
	return nil
}

// maxBody bounds a decompressed registration, bytes.
const maxBody = 64 << 20

// decompressBody reads the zlib form of a registration: i4 length and data version JSON, i4
// number of topics, per topic i4 length and "name read write perm filterType attributes",
// the filter servers, and mappings that are not used here.
func decompressBody(data []byte) (body remoting.RegisterBrokerBody, err error) {
	z, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		return body, err
	}
	defer z.Close()
	in := io.LimitReader(z, maxBody)
	wrapper := &body.TopicConfigSerializeWrapper
	part, err := readPart(in)
	if err != nil {
		return body, err
	}
	if err := fastjson.Unmarshal(part, &wrapper.DataVersion); err != nil {
		return body, err
	}
	var count int32
	if err := binary.Read(in, binary.BigEndian, &count); err != nil {
		return body, err
	}
	wrapper.TopicConfigTable = make(map[string]remoting.TopicConfig)
	for range count {
		part, err := readPart(in)
		if err != nil {
			return body, err
		}
		config, err := parseTopicLine(string(part))
		if err != nil {
			return body, err
		}
		wrapper.TopicConfigTable[config.TopicName] = config
	}
	return body, nil
}

func readPart(in io.Reader) ([]byte, error) {
	var n int32
	if err := binary.Read(in, binary.BigEndian, &n); err != nil {
		return nil, err
	}
	if n < 0 || n > maxBody {
		return nil, fmt.Errorf("a part of %d bytes", n)
	}
	b := make([]byte, n)
	_, err := io.ReadFull(in, b)
	return b, err
}

func parseTopicLine(line string) (config remoting.TopicConfig, err error) {
	fields := strings.SplitN(line, " ", 6)
	if len(fields) < 5 {
		return config, fmt.Errorf("topic line %q", line)
	}
	var numbers [3]int32
	for i := range numbers {
		n, err := strconv.ParseInt(fields[i+1], 10, 32)
		if err != nil {
			return config, fmt.Errorf("topic line %q: %w", line, err)
		}
		numbers[i] = int32(n)
	}
	return remoting.TopicConfig{
		TopicName: fields[0], ReadQueueNums: numbers[0], WriteQueueNums: numbers[1], Perm: numbers[2], TopicFilterType: fields[4],
	}, nil
}

func (s *Server) unregister(ex *remoting.Exchange) error {
	var req remoting.UnregisterBrokerRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	s.table.Unregister(req, ex.Conn.ID())
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
	route, ok := s.table.Route(req.Topic, s.advertise(ex.Conn))
	if !ok && s.ensure != nil && s.ensure(req.Topic) {
		route, ok = s.table.Route(req.Topic, s.advertise(ex.Conn))
	}
	if !ok {
		return remoting.Errorf(remoting.TopicNotExist,
			"No topic route info in name server for the topic: %s\nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details.", req.Topic)
	}
	if order := s.kv.value("ORDER_TOPIC_CONFIG", req.Topic); order != "" {
		route.OrderTopicConf = order
	}
	return encode(ex, route)
}

func (s *Server) cluster(ex *remoting.Exchange) error {
	return encode(ex, s.table.Cluster(s.advertise(ex.Conn)))
}

func (s *Server) topics(ex *remoting.Exchange) error {
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
	return encode(ex, s.table.SystemNames(s.advertise(ex.Conn)))
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
