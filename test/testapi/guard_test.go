package testapi

import (
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestOff(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.fails(t, "GET", "/test/clock", nil, 404, "off", "--test-api")
	s.fails(t, "POST", "/test/kill", nil, 404, "off", "--test-api")
	if strings.Contains(s.log.String(), "TEST API") {
		t.Error("the log speaks of a test API")
	}
}

func TestBrowsers_AreKeptOut(t *testing.T) {
	t.Parallel()
	s := start(t, "--test-api")
	if !strings.Contains(s.log.String(), "THE TEST API IS ON") {
		t.Error("the log does not warn of the test API")
	}
	for _, change := range []func(*http.Request){
		func(r *http.Request) { r.Header.Set("Origin", "https://example.org") },
		func(r *http.Request) { r.Host = "example.org" },
	} {
		x := s.send(t, "POST", "/test/clock/advance?duration=2h", nil, false, change)
		wantError(t, x, 403, "forbidden", "--test-token")
	}
}

func TestToken(t *testing.T) {
	t.Parallel()
	const token = "ba5eba11-and-more"
	for name, s := range map[string]*server{
		"flag":        start(t, "--test-api", "--test-token", token),
		"environment": startWith(t, []string{"WHEELMQ_TEST_TOKEN=" + token}, "--test-api"),
	} {
		t.Run(name, func(t *testing.T) {
			s.fails(t, "GET", "/test/clock", nil, 401, "unauthorized", "Bearer")
			s.token = "another"
			s.fails(t, "GET", "/test/clock", nil, 401, "unauthorized", "Bearer")
			s.token = token
			s.send(t, "GET", "/test/clock", nil, false, func(r *http.Request) { r.Host = "mq.example.org" })
			s.get(t, "/test/clock")
			if strings.Contains(s.log.String(), token) {
				t.Error("the log tells the token")
			}
		})
	}
}

func TestOtherPathsAndMethods(t *testing.T) {
	t.Parallel()
	s := start(t, "--test-api")
	s.fails(t, "GET", "/test/nothing", nil, 404, "not-found", "GET /test/ lists")
	s.fails(t, "DELETE", "/test/clock", nil, 405, "method", "[GET]")
	x := s.send(t, "POST", "/test/messages", `{"topic":"T","text":"`+strings.Repeat("x", 9<<20)+`"}`, false, nil)
	wantError(t, x, 413, "too-large", "8388608")
}

// TestHelp_EveryLineRuns runs the command lines that GET /test/ shows. What they answer depends
// on what there is; that they are understood does not.
func TestHelp_EveryLineRuns(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip(err)
	}
	s := startVirtual(t)
	lines := 0
	for line := range strings.Lines(string(s.get(t, "/test/").body)) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "curl ") {
			continue
		}
		lines++
		line = strings.NewReplacer("timeout=10s", "timeout=10ms", "limit=5h", "limit=5h&timeout=10ms").Replace(line)
		out, err := exec.CommandContext(t.Context(), "sh", "-c", line+` -s -w '\n%{http_code}'`).Output()
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		at := strings.LastIndex(string(out), "\n")
		body, status := string(out[:at]), string(out[at+1:])
		switch status {
		case "200", "201", "204", "408", "409":
		case "404":
			if !strings.Contains(body, `"not-found"`) || strings.Contains(body, "lists what does") {
				t.Errorf("%s: %s %s", line, status, body)
			}
		default:
			t.Errorf("%s: %s %s", line, status, body)
		}
	}
	if lines < 30 {
		t.Errorf("only %d lines were found", lines)
	}
}

const python = `
import json, sys, urllib.request

def call(method, path, body=None):
    request = urllib.request.Request(sys.argv[1] + path, method=method, data=None if body is None else json.dumps(body).encode())
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)

call("POST", "/test/messages", {"topic": "orders", "text": "later", "delayLevel": 18})
call("POST", "/test/clock/advance", {"duration": "2h"})
print(call("GET", "/test/messages?topic=orders")["total"])
`

func TestPython(t *testing.T) {
	t.Parallel()
	bin, err := exec.LookPath("python3")
	if err != nil {
		t.Skip(err)
	}
	s := startVirtual(t)
	cmd := exec.CommandContext(t.Context(), bin, "-c", python, "http://"+s.HTTP)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil || strings.TrimSpace(string(out)) != "1" {
		t.Errorf("printed %q, %v", out, err)
	}
}
