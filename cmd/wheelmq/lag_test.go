package main

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/internal/await"
)

// A look that fails is told, and the next one is taken.
func TestLagWatch_GoesOnAfterARestart(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	args := free("--namesrv-port", port, "--store", t.TempDir())
	s := startServer(t, args...)
	cmd := commandLine(t, "lag", "--watch=100ms", "--json", "--namesrv", "127.0.0.1:"+port)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	told := bufio.NewScanner(stderr)
	var last atomic.Int64
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for looks := json.NewDecoder(out); ; {
			var one look
			if looks.Decode(&one) != nil {
				return
			}
			last.Store(one.AtMs)
		}
	}()
	await.Until(t, "a look", func() bool { return last.Load() > 0 })
	s.stop(t)
	if !told.Scan() || !strings.HasPrefix(told.Text(), "wheelmq: ") {
		t.Fatalf("told %q", told.Text())
	}
	go func() { _, _ = io.Copy(io.Discard, stderr) }()
	again := startServer(t, args...)
	started := clock.Real{}.NowMillis()
	await.Until(t, "a look after the restart", func() bool { return last.Load() >= started })
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-ended
	if err := cmd.Wait(); err != nil {
		t.Errorf("ended with %v", err)
	}
	again.stop(t)
}
