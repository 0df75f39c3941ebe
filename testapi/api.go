package testapi

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/clock"
)

// Prefix is where the API stands.
const Prefix = "/test/"

// Options are what an API needs.
type Options struct {
	Control Control
	// Token admits whoever sends it as bearer; "": peers on this machine only, and no browser.
	Token string
	Wire  clock.Clock // real time, for waiting
	Log   logrus.FieldLogger
}

// API serves every path below Prefix.
type API struct {
	prefix  string // Prefix, or OperationsPrefix
	control Control
	guard   guard
	wire    clock.Clock
	log     logrus.FieldLogger
	routes  []route
	mux     *http.ServeMux
}

// New returns the API of one server.
func New(opts Options) *API {
	a := newAPI(opts, Prefix, testGuard)
	a.serve(a.table())
	return a
}

func newAPI(opts Options, prefix string, whose guardTexts) *API {
	return &API{
		prefix: prefix, control: opts.Control, guard: newGuard(opts.Token, whose), wire: opts.Wire, log: opts.Log, mux: http.NewServeMux(),
	}
}

// serve registers routes, whose paths begin with Prefix, below the API's own.
func (a *API) serve(routes []route) {
	for _, r := range routes {
		r.path, r.example = a.placed(r.path), a.placed(r.example)
		pattern := r.method + " " + r.path
		if r.path == a.prefix {
			pattern += "{$}"
		}
		a.routes = append(a.routes, r)
		a.mux.HandleFunc(pattern, func(w http.ResponseWriter, req *http.Request) { a.run(w, req, r) })
	}
	a.mux.HandleFunc(a.prefix, func(w http.ResponseWriter, req *http.Request) { a.fail(w, req, a.unrouted(w, req)) })
}

// placed is a path below the API's own prefix.
func (a *API) placed(path string) string {
	if rest, ok := strings.CutPrefix(path, Prefix); ok {
		return a.prefix + rest
	}
	return path
}

// ServeHTTP answers one request. A panic in it is logged and answered, and ends nothing else.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if p := recover(); p != nil {
			a.log.WithFields(logrus.Fields{"panic": p, "stack": string(debug.Stack())}).Error(a.guard.name + " panicked")
			a.fail(w, r, fmt.Errorf("testapi: panic: %v", p))
		}
	}()
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	if err := a.guard.admit(r); err != nil {
		a.fail(w, r, err)
		return
	}
	a.mux.ServeHTTP(w, r)
}

// run serves a request that has found its route.
func (a *API) run(w http.ResponseWriter, r *http.Request, to route) {
	query, err := parseQuery(r, to.params)
	if err != nil {
		a.fail(w, r, err)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, bodyLimit)
	got, err := to.serve(&request{Request: r, query: query})
	if err != nil {
		a.fail(w, r, err)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		a.log.WithFields(logrus.Fields{"method": r.Method, "path": r.URL.Path, "query": r.URL.RawQuery}).Info(a.guard.name)
	}
	a.answer(w, to.status, got)
}

// methods are those that a route may have.
var methods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete}

// unrouted says what is wrong with a request that no route takes.
func (a *API) unrouted(w http.ResponseWriter, r *http.Request) error {
	var allowed []string
	for _, method := range methods {
		probe := r.Clone(r.Context())
		probe.Method = method
		if _, pattern := a.mux.Handler(probe); pattern != a.prefix {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 {
		return &problem{http.StatusNotFound, "not-found", r.URL.Path + " does not exist: GET " + a.prefix + " lists what does"}
	}
	for _, method := range allowed {
		w.Header().Add("Allow", method)
	}
	return &problem{http.StatusMethodNotAllowed, "method", fmt.Sprintf("%s %s does not exist, want one of %v", r.Method, r.URL.Path, allowed)}
}

// Off answers below Prefix when the API is off.
func Off() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		p := problem{http.StatusNotFound, "off", "the test API is off: start the server with --test-api, or Config.Test.API when it is embedded"}
		_ = p.write(w)
	})
}

// fail answers with what is wrong.
func (a *API) fail(w http.ResponseWriter, r *http.Request, err error) {
	var p *problem
	if !errors.As(err, &p) {
		p = problemOf(err)
	}
	if p.status == http.StatusInternalServerError {
		a.log.WithError(err).WithField("path", r.URL.Path).Error(a.guard.name + " failed")
	}
	if err := p.write(w); err != nil {
		a.log.WithError(err).Debug("a reply of " + a.guard.name + " was not read")
	}
}
