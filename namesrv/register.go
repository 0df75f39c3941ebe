package namesrv

import (
	"hash/crc32"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/remoting/fastjson"
)

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
