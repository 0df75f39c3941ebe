package testapi

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
)

// startLimit ends a test whose server does not start.
const startLimit = 2 * time.Minute

// server is a process with its test API.
type server struct {
	NameServer, Broker, HTTP, Version string
	PID                               int

	token string
	log   output
}

// output is what a process has printed so far.
type output struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

// Write implements io.Writer.
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// start runs the binary as a test runner does: free ports, in memory, tied to stdin.
func start(t *testing.T, args ...string) *server {
	t.Helper()
	return startWith(t, nil, args...)
}

func startWith(t *testing.T, env []string, args ...string) *server {
	t.Helper()
	bin, err := peer.Binary()
	if err != nil {
		t.Fatal(err)
	}
	s := new(server)
	ready := filepath.Join(t.TempDir(), "ready.json")
	cmd := exec.Command(bin, append([]string{
		"serve", "--free-ports", "--bind", "127.0.0.1", "--memory", "--ready-file", ready, "--exit-with-stdin",
	}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = t.TempDir(), &s.log, &s.log
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { s.end(t, stdin, ended) })
	suite.Eventually(t, startLimit, "the ready file is there", func() bool {
		content, err := os.ReadFile(ready)
		return err == nil && json.Unmarshal(content, s) == nil
	})
	return s
}

// end closes stdin, which the server follows.
func (s *server) end(t *testing.T, stdin io.Closer, ended <-chan error) {
	t.Helper()
	if err := stdin.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("the server's exit was not clean: %v", err)
	}
	if t.Failed() {
		t.Logf("the server's output:\n%s", s.log.String())
	}
}

// startVirtual runs a server whose clock stands at an instant that is easy to reckon with.
func startVirtual(t *testing.T, args ...string) *server {
	t.Helper()
	return start(t, append([]string{"--test-api", "--virtual-clock=2026-01-01T00:00:00Z"}, args...)...)
}

// beginning is where the clock of startVirtual stands, ms.
var beginning = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
