package testapi

import "net/http"

// route is one path and method.
type route struct {
	method, path string
	about        string
	example      string   // of its URL from the path on; "": the path
	body         string   // of the example
	params       []string // that its query may have
	status       int      // of what is answered; 0: 200, or 204 when there is nothing to say
	serve        func(*request) (any, error)
}

// table is all of them, in the order of the help text.
func (a *API) table() []route {
	var all []route
	for _, part := range [][]route{
		a.selfRoutes(), a.clockRoutes(), a.messageRoutes(), a.pendingRoutes(), a.createRoutes(), a.faultRoutes(), a.evidenceRoutes(), a.lifeRoutes(),
	} {
		all = append(all, part...)
	}
	return all
}

func (a *API) selfRoutes() []route {
	return []route{
		{method: http.MethodGet, path: Prefix, about: "this text", serve: a.help},
		{method: http.MethodGet, path: Prefix + "openapi.yaml", about: "the contract, in OpenAPI", serve: a.openAPI},
	}
}

func (a *API) openAPI(*request) (any, error) { return yaml(OpenAPI), nil }
