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
		{Code: remoting.RegisterBroker, Name: "REGISTER_BROKER", Handler: s.register, Since: "3.0", Test: test},
		{Code: remoting.UnregisterBroker, Name: "UNREGISTER_BROKER", Handler: s.unregister, Since: "3.0", Test: "namesrv/liveness_test.go"},
		{Code: remoting.QueryDataVersion, Name: "QUERY_DATA_VERSION", Handler: s.dataVersion, Since: "4.3", Test: "namesrv/liveness_test.go"},
		{Code: remoting.BrokerHeartbeat, Name: "BROKER_HEARTBEAT", Handler: s.heartbeat, Since: "5.0", Test: "namesrv/liveness_test.go"},
		{Code: remoting.GetBrokerClusterInfo, Name: "GET_BROKER_CLUSTER_INFO", Handler: s.cluster, Since: "3.0", Test: test},
		{Code: remoting.GetBrokerMemberGroup, Name: "GET_BROKER_MEMBER_GROUP", Handler: s.memberGroup, Since: "5.0", Test: test},
		{Code: remoting.WipeWritePermOfBroker, Name: "WIPE_WRITE_PERM_OF_BROKER", Handler: s.wipeWritePerm, Since: "3.0", Test: "namesrv/topics_test.go"},
		{Code: remoting.AddWritePermOfBroker, Name: "ADD_WRITE_PERM_OF_BROKER", Handler: s.addWritePerm, Since: "4.9", Test: "namesrv/topics_test.go"},
	}
}

// topicRoutes are the requests about topics.
func (s *Server) topicRoutes() []remoting.Route {
	const test = "namesrv/topics_test.go"
	return []remoting.Route{
		{Code: remoting.GetRouteInfoByTopic, Name: "GET_ROUTEINFO_BY_TOPIC", Handler: s.route, Since: "3.0", Test: "namesrv/namesrv_test.go"},
		{Code: remoting.GetAllTopicListFromNameserver, Name: "GET_ALL_TOPIC_LIST_FROM_NAMESERVER", Handler: s.topics, Since: "3.0", Test: test},
		{Code: remoting.GetTopicsByCluster, Name: "GET_TOPICS_BY_CLUSTER", Handler: s.topicsByCluster, Since: "3.0", Test: test},
		{Code: remoting.GetSystemTopicListFromNS, Name: "GET_SYSTEM_TOPIC_LIST_FROM_NS", Handler: s.systemTopics, Since: "3.0", Test: test},
		{Code: remoting.RegisterTopicInNamesrv, Name: "REGISTER_TOPIC_IN_NAMESRV", Handler: s.registerTopic, Since: "4.9", Test: test},
		{Code: remoting.DeleteTopicInNamesrv, Name: "DELETE_TOPIC_IN_NAMESRV", Handler: s.deleteTopic, Since: "3.0", Test: test},
		{Code: remoting.GetUnitTopicList, Name: "GET_UNIT_TOPIC_LIST", Handler: s.topicsByFlag(unit), Since: "3.2", Test: test},
		{Code: remoting.GetHasUnitSubTopicList, Name: "GET_HAS_UNIT_SUB_TOPIC_LIST", Handler: s.topicsByFlag(unitSub), Since: "3.2", Test: test},
		{Code: remoting.GetHasUnitSubUnunitTopicList, Name: "GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST", Handler: s.topicsByFlag(unitSubOnly), Since: "3.2", Test: test},
	}
}

// configRoutes are the requests about the name server's own configuration and the KV tables. Those that
// write a file do not run on the event loop.
func (s *Server) configRoutes() []remoting.Route {
	const test = "namesrv/config_test.go"
	return []remoting.Route{
		{Code: remoting.PutKVConfig, Name: "PUT_KV_CONFIG", Class: remoting.Admin, Handler: s.kv.put, Since: "3.0", Test: test},
		{Code: remoting.GetKVConfig, Name: "GET_KV_CONFIG", Handler: s.kv.get, Since: "3.0", Test: test},
		{Code: remoting.DeleteKVConfig, Name: "DELETE_KV_CONFIG", Class: remoting.Admin, Handler: s.kv.delete, Since: "3.0", Test: test},
		{Code: remoting.GetKVListByNamespace, Name: "GET_KVLIST_BY_NAMESPACE", Handler: s.kv.list, Since: "3.0", Test: test},
		{
			Code: remoting.UpdateNamesrvConfig, Name: "UPDATE_NAMESRV_CONFIG", Handler: s.updateConfig, Since: "4.0", Test: test,
			Status: remoting.Partial, Note: "until the next start; keys without an effect here are refused",
		},
		{Code: remoting.GetNamesrvConfig, Name: "GET_NAMESRV_CONFIG", Handler: s.getConfig, Since: "4.0", Test: test},
	}
}
