package remoting

import "fmt"

// Refuse is the row of a code that RocketMQ has and this server does not serve: its answer is
// REQUEST_CODE_NOT_SUPPORTED with the reason, where that to an unknown code says only "not supported".
func Refuse(code int32, name, reason string) Route {
	refused := &Error{Code: RequestCodeNotSupported, Remark: fmt.Sprintf("request type %d %s is refused: %s", code, name, reason)}
	return Route{
		Code: code, Name: name, Class: Inline, Status: Refused, Note: reason,
		Handler: func(*Exchange) error { return refused },
	}
}
