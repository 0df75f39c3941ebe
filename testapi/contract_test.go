package testapi

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// documented are the operations of openapi.yaml, as "GET /test/clock", with their query parameters.
func documented(t *testing.T) map[string][]string {
	t.Helper()
	all := make(map[string][]string)
	paths, _, found := strings.Cut(string(OpenAPI), "\ncomponents:\n")
	if !found {
		t.Fatal("the document has no components")
	}
	pathLine, methodLine := regexp.MustCompile(`^  (/\S*):$`), regexp.MustCompile(`^    (get|put|post|delete):$`)
	inline, shared := regexp.MustCompile(`- \{name: "?(\w+)"?, in: query`), regexp.MustCompile(`parameters/(\w+)"`)
	var path, operation string
	for line := range strings.Lines(paths) {
		line = strings.TrimRight(line, "\n")
		if m := pathLine.FindStringSubmatch(line); m != nil {
			path, operation = m[1], ""
		} else if m := methodLine.FindStringSubmatch(line); m != nil {
			operation = strings.ToUpper(m[1]) + " " + path
			all[operation] = nil
		} else if m := inline.FindStringSubmatch(line); m != nil {
			all[operation] = append(all[operation], m[1])
		} else if m := shared.FindStringSubmatch(line); m != nil {
			name := map[string]string{"Limit": "limit", "Timeout": "timeout", "Patience": "timeout"}[m[1]]
			if name != "" {
				all[operation] = append(all[operation], name)
			}
		}
	}
	return all
}

func TestRoutes_AreThoseOfTheDocument(t *testing.T) {
	t.Parallel()
	document := documented(t)
	for _, r := range New(Options{}).routes {
		name := r.method + " " + r.path
		params, there := document[name]
		if !there {
			t.Errorf("%s is not in openapi.yaml", name)
			continue
		}
		delete(document, name)
		slices.Sort(params)
		served := slices.Sorted(slices.Values(r.params))
		if !slices.Equal(params, served) {
			t.Errorf("%s: the document has the parameters %v, the server takes %v", name, params, served)
		}
	}
	for name := range document {
		t.Errorf("%s of openapi.yaml is not served", name)
	}
}

func TestHelp_ShowsEveryRoute(t *testing.T) {
	t.Parallel()
	a := New(Options{})
	status, body := call(a, "GET", Prefix, "")
	if status != 200 {
		t.Fatalf("status %d: %s", status, body)
	}
	for _, r := range a.routes {
		if line := r.curl("127.0.0.1:9878", &guard{open: true}); !strings.Contains(body, line) || !strings.Contains(body, r.about) {
			t.Errorf("%s %s is not in the help", r.method, r.path)
		}
	}
	if status, body := call(a, "GET", Prefix+"openapi.yaml", ""); status != 200 || body != string(OpenAPI) {
		t.Errorf("status %d, %d bytes of the document", status, len(body))
	}
}
