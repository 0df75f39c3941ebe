package testapi

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// client waits longer than the server ever does in these tests.
var client = &http.Client{Timeout: 2 * time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}

// selected tells that not every test is run.
func selected() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != "" {
			return true
		}
	}
	return false
}

// send makes a request and holds it and its answer to the contract.
func (s *server) send(t *testing.T, method, path string, body any, wrong bool, change func(*http.Request)) *exchange {
	t.Helper()
	x := &exchange{}
	switch body := body.(type) {
	case nil:
	case string:
		x.sent = []byte(body)
	default:
		var err error
		if x.sent, err = json.Marshal(body); err != nil {
			t.Fatal(err)
		}
	}
	request, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.HTTP+path, bytes.NewReader(x.sent))
	if err != nil {
		t.Fatal(err)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if s.token != "" {
		request.Header.Set("Authorization", "Bearer "+s.token)
	}
	if change != nil {
		change(request)
	}
	reply, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	x.request, x.status, x.header = request, reply.StatusCode, reply.Header
	if x.body, err = io.ReadAll(reply.Body); err != nil {
		t.Fatal(err)
	}
	if err := theContract.check(x, wrong); err != nil {
		t.Errorf("%s %s: %v", method, path, err)
	}
	return x
}

// ok makes a request that succeeds.
func (s *server) ok(t *testing.T, method, path string, body any) *exchange {
	t.Helper()
	x := s.send(t, method, path, body, false, nil)
	if x.status >= http.StatusBadRequest {
		t.Fatalf("%s %s: %d %s", method, path, x.status, x.body)
	}
	return x
}

func (s *server) get(t *testing.T, path string) *exchange {
	t.Helper()
	return s.ok(t, "GET", path, nil)
}

func (s *server) post(t *testing.T, path string, body any) *exchange {
	t.Helper()
	return s.ok(t, "POST", path, body)
}

// into decodes an answer.
func into[T any](t *testing.T, x *exchange) (v T) {
	t.Helper()
	if err := json.Unmarshal(x.body, &v); err != nil {
		t.Fatalf("%s: %v", x.body, err)
	}
	return v
}

// fails makes a request that is valid and refused.
func (s *server) fails(t *testing.T, method, path string, body any, status int, kind, text string) {
	t.Helper()
	wantError(t, s.send(t, method, path, body, false, nil), status, kind, text)
}

func wantError(t *testing.T, x *exchange, status int, kind, text string) {
	t.Helper()
	got := into[struct{ Error, Kind string }](t, x)
	if x.status != status || got.Kind != kind || !strings.Contains(got.Error, text) {
		t.Errorf("%s %s: %d %s %q, want %d %s with %q", x.request.Method, x.request.URL, x.status, got.Kind, got.Error, status, kind, text)
	}
}

// The answers, as far as the tests look into them.
type (
	clockState struct {
		Virtual, AutoSkip         bool
		NowMs, NextDueMs, Pending int64
	}
	moved struct {
		FromMs, NowMs, Delivered int64
		Steps                    int
	}
	stored struct {
		Topic, MsgID, Tags, Keys string
		QueueID                  int32
		QueueOffset, StoreMs     int64
		DueMs                    int64
		Level                    int
		Properties               map[string]string
		Body                     []byte
	}
	messageList struct {
		Total    int
		Messages []stored
	}
	pendingList struct {
		Total   int
		Pending []stored
	}
	faultState struct {
		ID    string
		Rule  map[string]any
		Hits  int64
		Spent bool
	}
)

// m is a JSON object.
type m = map[string]any
