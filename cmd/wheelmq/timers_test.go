package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/control"
)

// timers runs a timers command against a server.
func timers(t *testing.T, code int, words ...string) (stdout, stderr string) {
	t.Helper()
	var out, said bytes.Buffer
	if got := run(append([]string{"timers"}, words...), &out, &said); got != code {
		t.Errorf("timers %v: exit code %d, want %d: %s", words, got, code, said.String())
	}
	return out.String(), said.String()
}

func TestTimers(t *testing.T) {
	t.Parallel()
	const token = "let-me-in"
	s := startServer(t, "serve", "--free-ports", "--bind", "127.0.0.1", "--memory", "--test-api", "--test-token", token)
	defer s.stop(t)
	for _, body := range []string{
		`{"topic":"orders","text":"a","keys":"ka","properties":{"TIMER_DELAY_SEC":"3600"}}`,
		`{"topic":"bills","text":"b","keys":"kb","properties":{"TIMER_DELAY_SEC":"7200"}}`,
		`{"topic":"bills","text":"l","delayLevel":18}`,
	} {
		request, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+s.ready.HTTP+"/test/messages", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+token)
		reply, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if err := reply.Body.Close(); err != nil || reply.StatusCode != http.StatusCreated {
			t.Fatalf("status %d, %v", reply.StatusCode, err)
		}
	}
	with := []string{"--http", s.ready.HTTP, "--token", token}
	ask := func(code int, words ...string) string {
		out, _ := timers(t, code, append(words, with...)...)
		return out
	}
	var page control.PendingPage
	if err := json.Unmarshal([]byte(ask(0, "list", "--json")), &page); err != nil || page.Total != 3 {
		t.Fatalf("%+v, %v", page, err)
	}
	a, level := page.Pending[0].ID, page.Pending[1].ID
	if page.Pending[1].Level == 0 {
		level = page.Pending[2].ID
	}
	if out := ask(0, "list", "--topic", "orders"); !strings.Contains(out, a) || strings.Contains(out, level) {
		t.Errorf("list: %s", out)
	}
	if out := ask(0, "count"); !strings.Contains(out, "bills") || !strings.Contains(out, "in all") {
		t.Errorf("count: %s", out)
	}
	ask(0, "count", "--step", "24h")
	moved := strings.TrimSpace(ask(0, "reschedule", a, "--in", "3h"))
	if out := ask(0, "find", "ka"); !strings.Contains(out, moved) {
		t.Errorf("find: %s, want %s", out, moved)
	}
	ask(exitNotFound, "cancel", a)
	ask(exitRefused, "fire", level)
	ask(1, "reschedule", moved)
	ask(exitRefused, "reschedule", moved, "--in", "876000h")
	ask(0, "cancel", moved)
	ask(exitNotFound, "find", "ka")
	ask(0, "parked", "list")
	ask(exitNotFound, "parked", "drop", "0")
	if _, said := timers(t, 1, "list", "--http", s.ready.HTTP, "--token", "wrong"); !strings.Contains(said, "token") {
		t.Errorf("a wrong token: %s", said)
	}
}

func TestTimers_OfAnyServer(t *testing.T) {
	t.Parallel()
	s := startServer(t, "serve", "--free-ports", "--bind", "127.0.0.1", "--memory")
	defer s.stop(t)
	if out, _ := timers(t, 0, "list", "--http", s.ready.HTTP); !strings.Contains(out, "in all") {
		t.Errorf("list: %s", out)
	}
	if _, said := timers(t, exitNobody, "list", "--http", s.ready.Broker); !strings.Contains(said, "HTTP port") {
		t.Errorf("another port: %s", said)
	}
}

// The operators' token admits to nothing else.
func TestTimers_WithAToken(t *testing.T) {
	t.Parallel()
	s := startServer(t, "serve", "--free-ports", "--bind", "127.0.0.1", "--memory", "--admin-token", "let-me-in")
	defer s.stop(t)
	timers(t, 0, "list", "--http", s.ready.HTTP, "--token", "let-me-in")
	for _, words := range [][]string{{}, {"--token", "wrong"}} {
		if _, said := timers(t, 1, append([]string{"list", "--http", s.ready.HTTP}, words...)...); !strings.Contains(said, "token") {
			t.Errorf("%v: %s", words, said)
		}
	}
	reply, err := http.Get("http://" + s.ready.HTTP + "/test/")
	if err != nil {
		t.Fatal(err)
	}
	if err := reply.Body.Close(); err != nil || reply.StatusCode != http.StatusNotFound {
		t.Errorf("/test/ answers %s, %v", reply.Status, err)
	}
}
