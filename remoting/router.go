package remoting

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sort"

	"github.com/sirupsen/logrus"
)

// Class says where a handler runs.
type Class uint8

// Queue classes. Inline handlers run on the event loop and must not block; the others
// run on the bounded worker pool of their class, past whose bound the client gets
// SYSTEM_BUSY.
const (
	Inline Class = iota
	Pull
	Query
	Admin
	NumClasses
)

// Handler serves one request: it fills ex.Reply, or calls ex.Defer, or returns an error
// (an *Error is answered as it is, any other as SYSTEM_ERROR).
type Handler func(ex *Exchange) error

// Route is one row of a server's table.
type Route struct {
	Code    int32
	Name    string // RocketMQ's constant, e.g. SEND_MESSAGE_V2; empty in a row: RequestCodeName of the code
	Class   Class
	Handler Handler
	Since   string // RocketMQ version that introduced the code
	Status  Support
	Note    string // what is partial or why it is refused
	Test    string // file of the test that proves it
}

// Support says how much of a request code is served.
type Support uint8

// Degrees of support, as docs/compat.md lists them.
const (
	Full Support = iota
	Partial
	Refused
)

// Step sees every request before its handler. A non-nil error is the answer. A code without a
// row comes with a Route that has the code only.
type Step func(ex *Exchange, route *Route) error

// Router leads every request to exactly one handler. It is immutable after NewRouter.
type Router struct {
	routes map[int32]*Route
	small  [512]*Route // codes below 512, the hot ones, without a map look-up
	before []Step
	log    logrus.FieldLogger
}

// RouterOptions are what a Router needs.
type RouterOptions struct {
	Before []Step // steps before every handler, in order
	Log    logrus.FieldLogger
}

// NewRouter builds a router. Two rows for one code are a programmer's error.
func NewRouter(routes []Route, opts RouterOptions) *Router {
	r := &Router{routes: make(map[int32]*Route, len(routes)), before: opts.Before, log: opts.Log}
	for i := range routes {
		route := &routes[i]
		if _, dup := r.routes[route.Code]; dup {
			panic(fmt.Sprintf("remoting: two routes for code %d", route.Code))
		}
		if route.Name == "" {
			route.Name = RequestCodeName(route.Code)
		}
		r.routes[route.Code] = route
		if route.Code >= 0 && int(route.Code) < len(r.small) {
			r.small[route.Code] = route
		}
	}
	return r
}

// Routes returns the table ordered by code.
func (r *Router) Routes() []*Route {
	list := make([]*Route, 0, len(r.routes))
	for _, route := range r.routes {
		list = append(list, route)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Code < list[j].Code })
	return list
}

// Route returns the row of a code, or nil.
func (r *Router) Route(code int32) *Route {
	if code >= 0 && int(code) < len(r.small) {
		return r.small[code]
	}
	return r.routes[code]
}

// Class tells where the request must run. Unknown codes are answered inline.
func (r *Router) Class(code int32) Class {
	if route := r.Route(code); route != nil {
		return route.Class
	}
	return Inline
}

// Serve runs the steps before the handler and the handler itself and leaves the answer
// in ex.Reply, unless ex.Deferred. It never panics.
func (r *Router) Serve(ex *Exchange) {
	route := r.Route(ex.Req.Code)
	if route == nil {
		route = &Route{Code: ex.Req.Code, Handler: notSupported}
	}
	ex.watched.of(route)
	if err := r.run(ex, route); err != nil {
		r.fail(ex, route, err)
	}
	if ex.plan != nil && !ex.deferred {
		ex.deferred = ex.plan.answer(ex.Conn, ex.Req.Opaque, ex.Req.IsOneway(), &ex.Reply)
	}
}

// Turned notes that a server answers a request itself, without its handler: its Observer is told as of one
// that was served.
func (r *Router) Turned(ex *Exchange) {
	if route := r.Route(ex.Req.Code); route != nil {
		ex.watched.of(route)
	}
}

// notSupported answers a code without a row. The blank in front is the real server's.
func notSupported(ex *Exchange) error {
	ex.Reply.Code = RequestCodeNotSupported
	ex.Reply.Remark = fmt.Sprintf(" request type %d not supported", ex.Req.Code)
	return nil
}

func (r *Router) run(ex *Exchange, route *Route) (err error) {
	defer func() {
		if p := recover(); p != nil {
			r.log.WithFields(logrus.Fields{"code": route.Code, "panic": p, "stack": string(debug.Stack())}).
				Error("request handler panicked")
			err = &Error{Code: SystemError, Remark: "internal error, see the broker's log"}
		}
	}()
	for _, step := range r.before {
		if err := step(ex, route); err != nil {
			return err
		}
	}
	return route.Handler(ex)
}

func (r *Router) fail(ex *Exchange, route *Route, err error) {
	if ex.deferred {
		// The Pending answers; a second frame for the same opaque would confuse the client.
		r.log.WithError(err).WithField("code", route.Code).Error("request failed after its reply was deferred")
		return
	}
	ex.Reply.Body = nil
	ex.Reply.release()
	var known *Error
	if errors.As(err, &known) {
		ex.Reply.Code, ex.Reply.Remark = known.Code, known.Remark
		if known.Cause != nil {
			r.log.WithError(known.Cause).WithField("code", route.Code).Warn("request failed")
		}
		return
	}
	ex.watched.failed = true
	r.log.WithError(err).WithField("code", route.Code).Error("request failed")
	ex.Reply.Code, ex.Reply.Remark = SystemError, "internal error, see the broker's log"
}
