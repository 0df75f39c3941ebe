package processor

import (
	"github.com/wheelmq/wheelmq/remoting"
)

// Reasons shared by several codes.
const (
	noReplicas = "there are no replicas to serve"
	noAuth     = "access control is not supported yet"
	noRocksDB  = "queues and tables are kept in files, there is no RocksDB"
	noCold     = "reads of cold data are not held back, and the log's read-ahead is the server's own affair"
	noLite     = "lite topics are not supported"

	noContainer = "this process is not a container of brokers"
)

// refusal is one code that this server knows and does not serve.
type refusal struct {
	code   int32
	name   string
	answer int32 // response code; 0 is REQUEST_CODE_NOT_SUPPORTED
	reason string
	since  string
}

// refusals say in words why a known code is not served, where an unknown one is only
// "not supported". Codes without a handler in RocketMQ are not listed.
var refusals = []refusal{
	{354, "CHECK_ROCKSDB_CQ_WRITE_PROGRESS", 0, noRocksDB, "5.3"},
	{355, "EXPORT_ROCKSDB_CONFIG_TO_JSON", 0, noRocksDB, "5.3"},
	{513, "UPDATE_AND_CREATE_STATIC_TOPIC", 0, "static topics are not supported", "5.0"},
	{902, "ADD_BROKER", 0, noContainer, "5.0"},
	{903, "REMOVE_BROKER", 0, noContainer, "5.0"},
	{905, "NOTIFY_MIN_BROKER_ID_CHANGE", 0, noReplicas, "5.0"},
	{906, "EXCHANGE_BROKER_HA_INFO", 0, noReplicas, "5.0"},
	{1008, "NOTIFY_BROKER_ROLE_CHANGED", 0, "there is no controller, this broker is always a master", "5.0"},
	{2001, "UPDATE_COLD_DATA_FLOW_CTR_CONFIG", 0, noCold, "5.1"},
	{2004, "SET_COMMITLOG_READ_MODE", 0, noCold, "5.1"},
	{3001, "AUTH_CREATE_USER", remoting.SystemError, noAuth, "5.3"},
	{3002, "AUTH_UPDATE_USER", remoting.SystemError, noAuth, "5.3"},
	{3003, "AUTH_DELETE_USER", remoting.SystemError, noAuth, "5.3"},
	{3004, "AUTH_GET_USER", remoting.SystemError, noAuth, "5.3"},
	{3005, "AUTH_LIST_USER", remoting.SystemError, noAuth, "5.3"},
	{3006, "AUTH_CREATE_ACL", remoting.SystemError, noAuth, "5.3"},
	{3007, "AUTH_UPDATE_ACL", remoting.SystemError, noAuth, "5.3"},
	{3008, "AUTH_DELETE_ACL", remoting.SystemError, noAuth, "5.3"},
	{3009, "AUTH_GET_ACL", remoting.SystemError, noAuth, "5.3"},
	{3010, "AUTH_LIST_ACL", remoting.SystemError, noAuth, "5.3"},
	{200070, "POP_LITE_MESSAGE", 0, noLite, "5.5"},
	{200071, "LITE_SUBSCRIPTION_CTL", 0, noLite, "5.5"},
	{200072, "ACK_LITE_MESSAGE", 0, noLite, "5.5"},
	{200073, "NOTIFY_UNSUBSCRIBE_LITE", 0, noLite, "5.5"},
	{200075, "GET_PARENT_TOPIC_INFO", 0, noLite, "5.5"},
	{200076, "GET_LITE_TOPIC_INFO", 0, noLite, "5.5"},
	{200077, "GET_LITE_CLIENT_INFO", 0, noLite, "5.5"},
	{200078, "GET_LITE_GROUP_INFO", 0, noLite, "5.5"},
	{200079, "TRIGGER_LITE_DISPATCH", 0, noLite, "5.5"},
}

// Refused returns the rows of the codes that are known and not served.
func Refused() []remoting.Route {
	routes := make([]remoting.Route, 0, len(refusals))
	for _, r := range refusals {
		route := remoting.Refuse(r.code, r.name, r.reason)
		if r.answer != 0 {
			refused := &remoting.Error{Code: r.answer, Remark: r.reason}
			route.Handler = func(*remoting.Exchange) error { return refused }
		}
		route.Since, route.Test = r.since, "broker/processor/refused_test.go"
		routes = append(routes, route)
	}
	return routes
}
