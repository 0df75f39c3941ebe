package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/control"
)

// TestTimers_Store looks into a store whose server is stopped, and changes nothing in it.
func TestTimers_Store(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := startServer(t, "serve", "--free-ports", "--bind", "127.0.0.1", "--store", dir, "--test-api")
	for i, body := range []string{
		`{"topic":"orders","text":"soon","keys":"k0","properties":{"TIMER_DELAY_SEC":"600"}}`,
		`{"topic":"orders","text":"hours","keys":"k1","properties":{"TIMER_DELAY_SEC":"36000"}}`,
		`{"topic":"bills","text":"days","keys":"k2","properties":{"TIMER_DELAY_SEC":"200000"}}`,
		`{"topic":"bills","text":"level","keys":"k3","delayLevel":18}`,
		`{"topic":"bills","text":"cancelled","keys":"k4","properties":{"TIMER_DELAY_SEC":"100000"}}`,
	} {
		reply, err := http.Post("http://"+s.ready.HTTP+"/test/messages", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if err := reply.Body.Close(); err != nil || reply.StatusCode != http.StatusCreated {
			t.Fatalf("message %d: status %d, %v", i, reply.StatusCode, err)
		}
	}
	var page control.PendingPage
	out, _ := timers(t, 0, "find", "k4", "--json", "--http", s.ready.HTTP)
	if err := json.Unmarshal([]byte(out), &page); err != nil || len(page.Pending) != 1 {
		t.Fatalf("%s, %v", out, err)
	}
	timers(t, 0, "cancel", page.Pending[0].ID, "--http", s.ready.HTTP)
	running, _ := timers(t, 0, "list", "--json", "--http", s.ready.HTTP)
	if _, said := timers(t, 1, "list", "--store", dir); !strings.Contains(said, "stop the server") {
		t.Errorf("while it runs: %s", said)
	}
	s.stop(t)
	before := digest(t, dir)
	if stopped, _ := timers(t, 0, "list", "--json", "--store", dir); stopped != running {
		t.Errorf("the store has\n%s, the server had\n%s", stopped, running)
	}
	if out, _ := timers(t, 0, "list", "--store", dir, "--topic", "orders", "--limit", "1"); !strings.Contains(out, "more:") || strings.Contains(out, "bills") {
		t.Errorf("list: %s", out)
	}
	if out, _ := timers(t, 0, "count", "--store", dir); !strings.Contains(out, "2  ") || !strings.Contains(out, "4  ") {
		t.Errorf("count: %s", out)
	}
	timers(t, 0, "count", "--store", dir, "--step", "24h")
	timers(t, 1, "count", "--store", dir, "--step", "0")
	if out, _ := timers(t, 0, "find", "k2", "--store", dir); !strings.Contains(out, "bills") {
		t.Errorf("find: %s", out)
	}
	timers(t, exitNotFound, "find", "k4", "--store", dir)
	for what, want := range map[string]string{"json": `"timers": 3,`, "text": "3 any-time delayed messages, the first until "} {
		var out, said bytes.Buffer
		if code := run([]string{"store", "inspect", "-o", what, dir}, &out, &said); code != 0 || !strings.Contains(out.String(), want) {
			t.Errorf("inspect: %d, %s%s", code, out.String(), said.String())
		}
	}
	if _, said := timers(t, 1, "cancel", page.Pending[0].ID, "--store", dir); !strings.Contains(said, "looked at only") {
		t.Errorf("a change: %s", said)
	}
	timers(t, 1, "list", "--store", filepath.Join(dir, "none"))
	if after := digest(t, dir); after != before {
		t.Errorf("the store changed: %s, was %s", after, before)
	}
	// A store of the real broker has the same.
	foreign := filepath.Join(t.TempDir(), "copy")
	var out2, said bytes.Buffer
	if code := run([]string{"store", "export", "--to", foreign, dir}, &out2, &said); code != 0 {
		t.Fatalf("export: %d, %s", code, said.String())
	}
	before = digest(t, foreign)
	if got, want := waitingIn(t, foreign), waitingIn(t, dir); got != want {
		t.Errorf("the copy has %s, the store %s", got, want)
	}
	if after := digest(t, foreign); after != before {
		t.Errorf("the copy changed: %s, was %s", after, before)
	}
}

// waitingIn are the topics, keys and instants of what waits in a stopped store.
func waitingIn(t *testing.T, dir string) (text string) {
	t.Helper()
	var page control.PendingPage
	out, _ := timers(t, 0, "list", "--json", "--store", dir)
	if err := json.Unmarshal([]byte(out), &page); err != nil {
		t.Fatal(err)
	}
	for _, p := range page.Pending {
		text += fmt.Sprintf("%s %s %d, ", p.Topic, p.Keys, p.DueMs)
	}
	return text
}

// digest is one of every file's name and content below a directory.
func digest(t *testing.T, dir string) string {
	t.Helper()
	h := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		fmt.Fprintln(h, path, len(b))
		h.Write(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}
