package namesrv

import (
	"errors"

	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/remoting/fastjson"
)

// Bits of topicSysFlag.
const (
	flagUnit    int32 = 1 << 0
	flagUnitSub int32 = 1 << 1
)

const retryPrefix = "%RETRY%"

func unit(flag int32) bool        { return flag&flagUnit != 0 }
func unitSub(flag int32) bool     { return flag&flagUnitSub != 0 }
func unitSubOnly(flag int32) bool { return unitSub(flag) && !unit(flag) }

// registerTopic serves REGISTER_TOPIC_IN_NAMESRV (217): queues of a topic on brokers that are registered.
func (s *Server) registerTopic(ex *remoting.Exchange) error {
	var req remoting.RegisterTopicRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	var route remoting.TopicRouteData
	if err := fastjson.Unmarshal(ex.Req.Body, &route); err != nil {
		return &remoting.Error{Code: remoting.SystemError, Remark: "topic route: " + err.Error()}
	}
	s.table.AddQueues(req.Topic, route.QueueDatas)
	return nil
}

// topicsByFlag serves the lists of topics by the bits of their topicSysFlag (311, 312, 313).
func (s *Server) topicsByFlag(match func(flag int32) bool) remoting.Handler {
	return func(ex *remoting.Exchange) error {
		return encode(ex, remoting.TopicList{TopicList: s.table.TopicsByFlag(match)})
	}
}

func (s *Server) updateConfig(ex *remoting.Exchange) error {
	err := s.config.update(string(ex.Req.Body))
	if refusal := (*remoting.Error)(nil); errors.As(err, &refusal) && refusal.Code == remoting.InvalidParameter && s.opts.Differences != nil {
		s.opts.Differences.Use(difference.ConfigChecked)
	}
	return err
}

func (s *Server) getConfig(ex *remoting.Exchange) error {
	ex.Reply.Body = s.config.text()
	return nil
}

// memberGroup serves GET_BROKER_MEMBER_GROUP (901), which brokers with acting masters ask.
func (s *Server) memberGroup(ex *remoting.Exchange) error {
	var req remoting.BrokerMemberGroupRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	group := s.table.Group(req.BrokerName, s.advertiseOf(ex.Conn, ""))
	body := []byte(`{"brokerMemberGroup":{"brokerAddrs":`)
	body = appendAddrs(body, group.BrokerAddrs, true)
	body = append(body, `,"brokerName":`...)
	body = remoting.AppendJSONString(body, req.BrokerName)
	body = append(body, `,"cluster":`...)
	body = remoting.AppendJSONString(body, req.ClusterName)
	ex.Reply.Body = append(body, "}}"...)
	return nil
}

// heartbeat serves BROKER_HEARTBEAT (904): it keeps a registration alive between its renewals.
func (s *Server) heartbeat(ex *remoting.Exchange) error {
	var req remoting.BrokerHeartbeatRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	s.table.Seen(remoting.BrokerIdentity{BrokerName: req.BrokerName, BrokerAddr: req.BrokerAddr}, s.opts.Wire.NowMillis())
	return nil
}
