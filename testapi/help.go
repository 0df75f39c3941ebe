package testapi

import (
	"fmt"
	"net/http"
	"strings"
)

// help is one line about each route and one for curl.
func (a *API) help(r *request) (any, error) {
	var s strings.Builder
	fmt.Fprintf(&s, "What %s can do. Durations: 2h, 1m30s, or milliseconds. A %% in a name is %%25 in a URL.\n", a.guard.name)
	for _, to := range a.routes {
		fmt.Fprintf(&s, "\n%s\n  %s\n", to.about, to.curl(r.Host, &a.guard))
	}
	return text(s.String()), nil
}

// curl is a command line that works in a shell.
func (to *route) curl(host string, g *guard) string {
	words := []string{"curl"}
	if to.method != http.MethodGet {
		words = append(words, "-X", to.method)
	}
	if !g.open {
		words = append(words, `-H "Authorization: Bearer $`+g.env+`"`)
	}
	path := to.example
	if path == "" {
		path = to.path
	}
	words = append(words, "'http://"+strings.ReplaceAll(host, "'", "")+path+"'")
	if to.body != "" {
		words = append(words, "-d '"+to.body+"'")
	}
	return strings.Join(words, " ")
}
