package namesrv

import (
	"strings"

	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/remoting"
)

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
