package processor

import (
	"fmt"

	"github.com/wheelmq/wheelmq/remoting"
)

// Reasons shared by several codes.
const (
	noPop      = "pop consumption is not supported yet, consume by pull or push"
	noReplicas = "there are no replicas to serve"
	noAuth     = "access control is not supported yet"
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
	{25, "UPDATE_BROKER_CONFIG", 0, "the configuration is read at the start only", "3.0"},
	{43, "GET_ALL_CONSUMER_OFFSET", 0, noReplicas, "3.0"},
	{45, "GET_ALL_DELAY_OFFSET", 0, noReplicas, "3.0"},
	{513, "UPDATE_AND_CREATE_STATIC_TOPIC", 0, "static topics are not supported", "5.0"},
	{907, "GET_BROKER_HA_STATUS", 0, noReplicas, "5.0"},
	{3001, "AUTH_CREATE_USER", remoting.SystemError, noAuth, "5.3"},
	{3004, "AUTH_GET_USER", remoting.SystemError, noAuth, "5.3"},
	{3005, "AUTH_LIST_USER", remoting.SystemError, noAuth, "5.3"},
	{3006, "AUTH_CREATE_ACL", remoting.SystemError, noAuth, "5.3"},
	{3009, "AUTH_GET_ACL", remoting.SystemError, noAuth, "5.3"},
	{3010, "AUTH_LIST_ACL", remoting.SystemError, noAuth, "5.3"},
	{200050, "POP_MESSAGE", remoting.SystemError, noPop, "5.0"},
	{200051, "ACK_MESSAGE", remoting.SystemError, noPop, "5.0"},
	{200052, "PEEK_MESSAGE", remoting.SystemError, noPop, "5.0"},
	{200053, "CHANGE_MESSAGE_INVISIBLETIME", remoting.SystemError, noPop, "5.0"},
	{200054, "NOTIFICATION", remoting.SystemError, noPop, "5.0"},
	{200055, "POLLING_INFO", remoting.SystemError, noPop, "5.0"},
	{200151, "BATCH_ACK_MESSAGE", remoting.SystemError, noPop, "5.0"},
}

// Refused returns the rows of the codes that are known and not served.
func Refused() []remoting.Route {
	routes := make([]remoting.Route, 0, len(refusals))
	for _, r := range refusals {
		routes = append(routes, remoting.Route{
			Code: r.code, Name: r.name, Class: remoting.Inline, Handler: r.handler(), Since: r.since,
			Status: remoting.Refused, Note: r.reason, Test: "broker/processor/refused_test.go",
		})
	}
	return routes
}

func (r refusal) handler() remoting.Handler {
	refused := &remoting.Error{Code: r.answer, Remark: r.reason}
	if r.answer == 0 {
		refused.Code = remoting.RequestCodeNotSupported
		refused.Remark = fmt.Sprintf("request type %d %s is refused: %s", r.code, r.name, r.reason)
	}
	return func(*remoting.Exchange) error { return refused }
}
