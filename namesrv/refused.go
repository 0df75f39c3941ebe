package namesrv

import "github.com/wheelmq/wheelmq/remoting"

const (
	noController  = "this name server has no controller: brokers are masters without replicas"
	ofControllers = "it is of controllers among themselves, and there is none"
)

// refusals are the codes of a controller, which a name server of RocketMQ 5 may contain.
var refusals = []struct {
	code         int32
	name, reason string
}{
	{1001, "CONTROLLER_ALTER_SYNC_STATE_SET", noController},
	{1002, "CONTROLLER_ELECT_MASTER", noController},
	{1003, "CONTROLLER_REGISTER_BROKER", noController},
	{1004, "CONTROLLER_GET_REPLICA_INFO", noController},
	{1005, "CONTROLLER_GET_METADATA_INFO", noController},
	{1006, "CONTROLLER_GET_SYNC_STATE_DATA", noController},
	{1009, "UPDATE_CONTROLLER_CONFIG", noController},
	{1010, "GET_CONTROLLER_CONFIG", noController},
	{1011, "CLEAN_BROKER_DATA", noController},
	{1012, "CONTROLLER_GET_NEXT_BROKER_ID", noController},
	{1013, "CONTROLLER_APPLY_BROKER_ID", noController},
	{1014, "BROKER_CLOSE_CHANNEL_REQUEST", ofControllers},
	{1015, "CHECK_NOT_ACTIVE_BROKER_REQUEST", ofControllers},
	{1016, "GET_BROKER_LIVE_INFO_REQUEST", ofControllers},
	{1017, "GET_SYNC_STATE_DATA_REQUEST", ofControllers},
	{1018, "RAFT_BROKER_HEART_BEAT_EVENT_REQUEST", ofControllers},
}

func refused() []remoting.Route {
	routes := make([]remoting.Route, 0, len(refusals))
	for _, r := range refusals {
		route := remoting.Refuse(r.code, r.name, r.reason)
		route.Since, route.Test = "5.0", "namesrv/refused_test.go"
		routes = append(routes, route)
	}
	return routes
}
