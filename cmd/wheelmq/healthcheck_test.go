package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHealthcheck(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name         string
		status, code int
		body         string
		want         string // in what is printed, stdout or stderr
	}{
		{"up", 200, 0, `{"state":"up","parts":{"store":{"state":"up"}}}`, "up\n"},
		{"degraded", 200, 0, `{"state":"degraded","parts":{"index":{"state":"degraded","reason":"it is built"}}}`, "index is degraded: it is built"},
		{"down", 503, 1, `{"state":"down","parts":{"schedule":{"state":"down","reason":"withheld"}}}`, "schedule is down: withheld"},
		{"another server", 200, 1, `<html>`, "no health report"},
		{"another path", 404, 1, `404 page not found`, "404"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tc.status)
				_, _ = w.Write([]byte(tc.body))
			}))
			defer s.Close()
			var out, err strings.Builder
			code := run([]string{"healthcheck", "--http", strings.TrimPrefix(s.URL, "http://")}, &out, &err)
			if code != tc.code || !strings.Contains(out.String()+err.String(), tc.want) {
				t.Errorf("exit code %d, want %d; %q, %q, want %q", code, tc.code, out.String(), err.String(), tc.want)
			}
		})
	}
	var out, err strings.Builder
	if code := run([]string{"healthcheck", "--http", "127.0.0.1:1", "--timeout", "2s"}, &out, &err); code != 1 || !strings.Contains(err.String(), "127.0.0.1:1") {
		t.Errorf("nobody listens: exit code %d, %q", code, err.String())
	}
}
