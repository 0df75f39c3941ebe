package namesrv

// Requests 217, 311, 312, 313, 318, 319 of administrators and 901, 904 of brokers with acting
// masters, RocketMQ 5.5.0.

import (
	"errors"

	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/remoting/fastjson"
)

const (
	registerTopicInNamesrv       int32 = 217
	getUnitTopicList             int32 = 311
	getHasUnitSubTopicList       int32 = 312
	getHasUnitSubUnunitTopicList int32 = 313
	getBrokerMemberGroup         int32 = 901
	brokerHeartbeat              int32 = 904
)

// Bits of topicSysFlag.
const (
	flagUnit    int32 = 1 << 0
	flagUnitSub int32 = 1 << 1
)

const retryPrefix = "%RETRY%"

func requiredText(ex *remoting.Exchange, name string) (string, error) {
	v, ok := ex.Req.Ext.Get(name)
	if !ok {
		return "", remoting.Errorf(remoting.SystemError, "the custom field <%s> is null", name)
	}
	return string(v), nil
}

func (s *Server) registerTopic(ex *remoting.Exchange) error {
	topic, err := requiredText(ex, "topic")
	if err != nil {
		return err
	}
	var route remoting.TopicRouteData
	if err := fastjson.Unmarshal(ex.Req.Body, &route); err != nil {
		return &remoting.Error{Code: remoting.SystemError, Remark: "topic route: " + err.Error()}
	}
	s.table.AddQueues(topic, route.QueueDatas)
	return nil
}

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

func (s *Server) memberGroup(ex *remoting.Exchange) error {
	cluster, err := requiredText(ex, "clusterName")
	if err != nil {
		return err
	}
	name, err := requiredText(ex, "brokerName")
	if err != nil {
		return err
	}
	group := s.table.Group(name, s.advertiseOf(ex.Conn, ""))
	body := []byte(`{"brokerMemberGroup":{"brokerAddrs":`)
	body = appendAddrs(body, group.BrokerAddrs, true)
	body = append(body, `,"brokerName":`...)
	body = remoting.AppendJSONString(body, name)
	body = append(body, `,"cluster":`...)
	body = remoting.AppendJSONString(body, cluster)
	ex.Reply.Body = append(body, "}}"...)
	return nil
}

func (s *Server) heartbeat(ex *remoting.Exchange) error {
	name, err := requiredText(ex, "brokerName")
	if err != nil {
		return err
	}
	addr, err := requiredText(ex, "brokerAddr")
	if err != nil {
		return err
	}
	s.table.Seen(remoting.BrokerIdentity{BrokerName: name, BrokerAddr: addr}, s.opts.Wire.NowMillis())
	return nil
}
