package namesrv

import (
	"slices"

	"github.com/wheelmq/wheelmq/remoting"
)

// Routes returns the table rows.
func (s *Server) Routes() []remoting.Route {
	return slices.Concat(refused(), s.brokerRoutes(), s.topicRoutes(), s.configRoutes())
}

// brokerRoutes are the requests of brokers, and about them.
func (s *Server) brokerRoutes() []remoting.Route {
	const test = "namesrv/namesrv_test.go"
	return []remoting.Route{
		{Code: remoting.RegisterBroker, Handler: s.register, Since: "3.0", Test: test},
		{Code: remoting.UnregisterBroker, Handler: s.unregister, Since: "3.0", Test: "namesrv/liveness_test.go"},
		{Code: remoting.QueryDataVersion, Handler: s.dataVersion, Since: "4.3", Test: "namesrv/liveness_test.go"},
		{Code: remoting.BrokerHeartbeat, Handler: s.heartbeat, Since: "5.0", Test: "namesrv/liveness_test.go"},
		{Code: remoting.GetBrokerClusterInfo, Handler: s.cluster, Since: "3.0", Test: test},
		{Code: remoting.GetBrokerMemberGroup, Handler: s.memberGroup, Since: "5.0", Test: test},
		{Code: remoting.WipeWritePermOfBroker, Handler: s.wipeWritePerm, Since: "3.0", Test: "namesrv/topics_test.go"},
		{Code: remoting.AddWritePermOfBroker, Handler: s.addWritePerm, Since: "4.9", Test: "namesrv/topics_test.go"},
	}
}

// topicRoutes are the requests about topics.
func (s *Server) topicRoutes() []remoting.Route {
	const test = "namesrv/topics_test.go"
	return []remoting.Route{
		{Code: remoting.GetRouteInfoByTopic, Handler: s.route, Since: "3.0", Test: "namesrv/namesrv_test.go"},
		{Code: remoting.GetAllTopicListFromNameserver, Handler: s.topics, Since: "3.0", Test: test},
		{Code: remoting.GetTopicsByCluster, Handler: s.topicsByCluster, Since: "3.0", Test: test},
		{Code: remoting.GetSystemTopicListFromNS, Handler: s.systemTopics, Since: "3.0", Test: test},
		{Code: remoting.RegisterTopicInNamesrv, Handler: s.registerTopic, Since: "4.9", Test: test},
		{Code: remoting.DeleteTopicInNamesrv, Handler: s.deleteTopic, Since: "3.0", Test: test},
		{Code: remoting.GetUnitTopicList, Handler: s.topicsByFlag(unit), Since: "3.2", Test: test},
		{Code: remoting.GetHasUnitSubTopicList, Handler: s.topicsByFlag(unitSub), Since: "3.2", Test: test},
		{Code: remoting.GetHasUnitSubUnunitTopicList, Handler: s.topicsByFlag(unitSubOnly), Since: "3.2", Test: test},
	}
}

// configRoutes are the requests about the name server's own configuration and the KV tables. Those that
// write a file do not run on the event loop.
func (s *Server) configRoutes() []remoting.Route {
	const test = "namesrv/config_test.go"
	return []remoting.Route{
		{Code: remoting.PutKVConfig, Class: remoting.Admin, Handler: s.kv.put, Since: "3.0", Test: test},
		{Code: remoting.GetKVConfig, Handler: s.kv.get, Since: "3.0", Test: test},
		{Code: remoting.DeleteKVConfig, Class: remoting.Admin, Handler: s.kv.delete, Since: "3.0", Test: test},
		{Code: remoting.GetKVListByNamespace, Handler: s.kv.list, Since: "3.0", Test: test},
		{
			Code: remoting.UpdateNamesrvConfig, Handler: s.updateConfig, Since: "4.0", Test: test,
			Status: remoting.Partial, Note: "until the next start; keys without an effect here are refused",
		},
		{Code: remoting.GetNamesrvConfig, Handler: s.getConfig, Since: "4.0", Test: test},
	}
}
