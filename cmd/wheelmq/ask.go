package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/wheelmq/wheelmq/admin"
)

// namesrvEnv is RocketMQ's own variable.
const namesrvEnv = "NAMESRV_ADDR"

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

// print prints a result as JSON, or as a table for people.
func (f *askFlags) print(cmd *cobra.Command, result any, people func(out *table)) error {
	if f.json {
		return indented(cmd.OutOrStdout(), result)
	}
	return printTable(cmd.OutOrStdout(), people)
}

// asked shows how many servers' answers are in.
func asked(cmd *cobra.Command) *progress { return newProgress(cmd.ErrOrStderr(), "asked") }
