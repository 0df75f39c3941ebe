package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/internal/await"
)

func readNotice(t *testing.T, path string) (n readyNotice) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, &n); err != nil {
		t.Fatalf("%s: %v", content, err)
	}
	return n
}

func TestReadyFile_HoldsTheAddressesWhileTheServerRuns(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ready.json")
	if err := os.WriteFile(path, []byte("of an earlier process"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startServer(t, "serve", "--free-ports", "--bind", "127.0.0.1", "--memory", "--ready-file", path)
	want := readyNotice{NameServer: s.ready.NameServer, Broker: s.ready.Broker, HTTP: s.ready.HTTP, PID: s.cmd.Process.Pid, Version: "dev"}
	if got := readNotice(t, path); got != want || got.NameServer == "" || got.Broker == "" || got.HTTP == "" {
		t.Errorf("the file says %+v, want %+v", got, want)
	}
	s.stop(t)
	if left, err := filepath.Glob(filepath.Dir(path) + "/*"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestReadyFile_OfAServerThatDoesNotStart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ready.json")
	if err := os.WriteFile(path, []byte("of an earlier process"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := commandLine(t, free("--memory", "--ready-file", path, "--set", "messageDelayLevel=never")...)
	if err := cmd.Run(); err == nil {
		t.Error("it started")
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file of an earlier process is still there: %v", err)
	}
}

func TestExitWithStdin(t *testing.T) {
	t.Parallel()
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	s := startServerWith(t, in, free("--memory", "--exit-with-stdin")...)
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	var rest string
	for s.lines.Scan() {
		rest += s.lines.Text() + "\n"
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("the exit was not clean: %v", err)
	}
	if !strings.Contains(rest, "stopping") || !strings.Contains(rest, "stdin was closed") {
		t.Errorf("logged\n%s", rest)
	}
}

// As after a kill of the process that started it, which was to read the log.
func TestExitWithStdin_ClosesTheStoreWhenNobodyReadsTheLog(t *testing.T) {
	t.Parallel()
	dir, notice := t.TempDir(), filepath.Join(t.TempDir(), "ready.json")
	cmd := commandLine(t, free("--store", dir, "--ready-file", notice, "--exit-with-stdin")...)
	in, stdin, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	log, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.Stderr = in, out
	if err := errors.Join(cmd.Start(), in.Close(), out.Close()); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "it is ready", func() bool {
		_, err := os.Stat(notice)
		return err == nil
	})
	if err := errors.Join(log.Close(), stdin.Close(), cmd.Wait()); err != nil {
		t.Errorf("the exit was not clean: %v", err)
	}
	for _, file := range []string{notice, filepath.Join(dir, "abort")} {
		if _, err := os.Stat(file); !os.IsNotExist(err) {
			t.Errorf("%s was left behind: %v", file, err)
		}
	}
}

func TestMemory_WritesNothing(t *testing.T) {
	t.Parallel()
	s := startServer(t, free("--memory")...)
	warned := false
	for _, e := range s.log {
		warned = warned || e.Level == "warning" && strings.Contains(e.Msg, "IN MEMORY")
	}
	if !warned {
		t.Errorf("no warning among %+v", s.log)
	}
	s.stop(t)
	if left, err := filepath.Glob(s.cmd.Dir + "/*"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
