package testapi

import (
	"net/http"
	"strings"

	"github.com/wheelmq/wheelmq/control"
)

func (a *API) evidenceRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: Prefix + "differences", about: "what clients relied on that the real broker lacks",
			serve: a.differences,
		},
		{
			method: http.MethodGet, path: Prefix + "exchanges", about: "the last 50 requests and their answers",
			example: Prefix + "exchanges?format=text", params: []string{"format"}, serve: a.exchanges,
		},
	}
}

func (a *API) differences(*request) (any, error) {
	return map[string][]control.Difference{"differences": present(a.control.Differences())}, nil
}

func (a *API) exchanges(r *request) (any, error) {
	format := r.query.Get("format")
	if format == "" && strings.HasPrefix(r.Header.Get("Accept"), "text/plain") {
		format = "text"
	}
	switch format {
	case "", "json":
		return map[string][]control.Exchange{"exchanges": present(a.control.Exchanges())}, nil
	case "text":
		return text(control.ExchangeTable(a.control.Exchanges())), nil
	default:
		return nil, invalid("format=%q: want json or text", format)
	}
}
