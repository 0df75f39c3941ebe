package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// superviseFlags are for a program that starts this one.
type superviseFlags struct {
	readyFile     string
	exitWithStdin bool
}

func (s *superviseFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.readyFile, "ready-file", "", "write the addresses to this file, in JSON, once clients may come")
	cmd.Flags().BoolVar(&s.exitWithStdin, "exit-with-stdin", false, "stop when stdin is closed, as when the process that started this one ends")
}

// readyNotice is the content of the ready file.
type readyNotice struct {
	NameServer string `json:"nameServer"` // host:port, "" without one
	Broker     string `json:"broker"`
	HTTP       string `json:"http"`
	PID        int    `json:"pid"`
	Version    string `json:"version"`
}

// clear removes what an earlier process has left, so that nobody takes it for this one's.
func (s *superviseFlags) clear() error {
	if s.readyFile == "" {
		return nil
	}
	if err := os.Remove(s.readyFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--ready-file: %w", err)
	}
	return nil
}

// announce writes the ready file, whole or not at all.
func (s *superviseFlags) announce(n readyNotice) error {
	if s.readyFile == "" {
		return nil
	}
	content, err := json.Marshal(n)
	if err != nil {
		return fmt.Errorf("--ready-file: %w", err)
	}
	staged := s.readyFile + ".tmp"
	if err := os.WriteFile(staged, append(content, '\n'), 0o644); err != nil {
		return fmt.Errorf("--ready-file: %w", err)
	}
	if err := os.Rename(staged, s.readyFile); err != nil {
		return fmt.Errorf("--ready-file: %w", err)
	}
	return nil
}

// errStdinClosed is why a server with --exit-with-stdin ends.
var errStdinClosed = errors.New("stdin was closed")

// follow ends the context that it returns when stdin ends. What is read before is passed over.
func (s *superviseFlags) follow(ctx context.Context, stdin io.Reader) context.Context {
	if !s.exitWithStdin {
		return ctx
	}
	// Whoever read the log is gone with stdin: a line more must not end the process before its
	// store is closed.
	signal.Ignore(syscall.SIGPIPE)
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		// An error of stdin is its end as well.
		_, _ = io.Copy(io.Discard, stdin)
		cancel(errStdinClosed)
	}()
	return ctx
}
