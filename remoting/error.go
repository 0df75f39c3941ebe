package remoting

import "fmt"

// Error is a failure as a client sees it: a response code and a remark. Cause, which
// may be nil, goes to the log only.
type Error struct {
	Code   int32
	Remark string
	Cause  error
}

// Errorf returns an Error with a formatted remark.
func Errorf(code int32, format string, args ...any) *Error {
	return &Error{Code: code, Remark: fmt.Sprintf(format, args...)}
}

// Error implements error.
func (e *Error) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("code %d: %s: %v", e.Code, e.Remark, e.Cause)
	}
	return fmt.Sprintf("code %d: %s", e.Code, e.Remark)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }
