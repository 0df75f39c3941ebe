package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/wheelmq/wheelmq/admin"
	"github.com/wheelmq/wheelmq/remoting"
)

// namesrvEnv is RocketMQ's own variable.
const namesrvEnv = "NAMESRV_ADDR"

// More exit codes of the commands that ask servers, beside those of timers: 3 is for what does not exist,
// 5 for what a server refused.
const (
	exitNobody = 6 // nobody answers
	exitOver   = 7 // more than a limit that was given
)

// askFlags are those of every command that asks name servers and brokers.
type askFlags struct {
	namesrv string
	timeout time.Duration
	json    bool
}

func (f *askFlags) add(cmd *cobra.Command) {
	cmd.PersistentFlags().StringVarP(&f.namesrv, "namesrv", "n", "", "name servers host:port;host:port (or $"+namesrvEnv+", else 127.0.0.1:"+defaultOf("namesrvListenPort")+")")
	cmd.PersistentFlags().DurationVar(&f.timeout, "timeout", admin.DefaultTimeout, "how long a server may take for one answer")
	cmd.PersistentFlags().BoolVar(&f.json, "json", false, "print JSON")
}

// client is one that asks the name servers that are meant.
func (f *askFlags) client() (*admin.Client, error) {
	addrs, err := admin.ParseNameServers(f.nameServers())
	if err != nil {
		return nil, err
	}
	return admin.New(admin.Options{NameServers: addrs, Timeout: f.timeout}), nil
}

func (f *askFlags) nameServers() string {
	return cmp.Or(f.namesrv, os.Getenv(namesrvEnv), "127.0.0.1:"+defaultOf("namesrvListenPort"))
}

// asking makes what a command does of what it does with a client. A signal ends the context.
func (f *askFlags) asking(do func(ctx context.Context, cmd *cobra.Command, c *admin.Client, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) (err error) {
		c, err := f.client()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, c.Close()) }()
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		return withExitCode(do(ctx, cmd, c, args))
	}
}

// withExitCode gives an error the exit code that scripts tell it by.
func withExitCode(err error) error {
	var (
		exit    *exitError
		gone    *admin.UnreachableError
		refusal *remoting.Error
	)
	switch {
	case err == nil || errors.As(err, &exit):
		return err
	case errors.Is(err, admin.ErrNotFound):
		return &exitError{exitNotPending, err}
	case errors.As(err, &gone):
		return &exitError{exitNobody, fmt.Errorf("%w: wheelmq doctor looks for the reason", err)}
	case errors.As(err, &refusal) && refusal.Code == remoting.RequestCodeNotSupported:
		return &exitError{exitRefused, fmt.Errorf("%w: is it the port of a name server? wheelmq doctor tells", err)}
	case errors.As(err, &refusal):
		return &exitError{exitRefused, err}
	}
	return err
}

// print prints a result as JSON, or as a table for people.
func (f *askFlags) print(cmd *cobra.Command, result any, people func(out *table)) error {
	if f.json {
		enc := json.NewEncoder(cmd.OutOrStdout())
		enc.SetIndent("", "  ")
		return enc.Encode(result)
	}
	out := &table{tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)}
	people(out)
	return out.w.Flush()
}

// asked shows how many servers' answers are in.
func asked(cmd *cobra.Command) *progress { return newProgress(cmd.ErrOrStderr(), "asked") }
