package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/wheelmq/wheelmq/admin"
	"github.com/wheelmq/wheelmq/config"
)

func configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Short: "Look at the configuration", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			return errors.Join(cmd.Help(), errors.New("name a command, for example wheelmq config print"))
		},
	}
	cmd.AddCommand(configPrint())
	return cmd
}

// configFlags are the options of config print.
type configFlags struct {
	askFlags
	server           flags
	changed, running bool
	broker           string
}

func configPrint() *cobra.Command {
	var f configFlags
	cmd := &cobra.Command{
		Use: "print [KEY...]", Short: "Print the value of each key and where it comes from",
		Long: "Print the value of each key and where it comes from: what wheelmq serve would take with the same options, or with\n" +
			"--running what a broker that runs has. What serve would refuse is refused, what it would warn of is warned of.",
		Example:           "  wheelmq config print -c broker.conf --changed\n  wheelmq config print --running messageDelayLevel",
		ValidArgsFunction: completeKeys,
	}
	f.add(cmd)
	cmd.Flags().StringVarP(&f.server.file, "config", "c", "", "broker.conf to read")
	for _, k := range keyFlags {
		cmd.Flags().String(k.flag, defaultOf(k.key), k.doc)
	}
	cmd.Flags().StringArrayVar(&f.server.set, "set", nil, "key=value of broker.conf; may be repeated")
	cmd.Flags().BoolVar(&f.changed, "changed", false, "only what is not the default")
	cmd.Flags().BoolVar(&f.running, "running", false, "of the broker that is registered with the name server")
	cmd.Flags().StringVar(&f.broker, "broker", "", "name of the broker, when there are several")
	for _, flag := range []string{"config", "set", "listen-port", "namesrv-port", "http-port", "bind", "store"} {
		cmd.MarkFlagsMutuallyExclusive("running", flag)
	}
	cmd.RunE = f.run
	return cmd
}

func completeKeys(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, k := range config.Keys() {
		names = append(names, k.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (f *configFlags) run(cmd *cobra.Command, args []string) error {
	if f.running {
		return f.asking(f.ofBroker)(cmd, args)
	}
	cfg, warnings, err := configure(cmd, &f.server)
	if err != nil {
		return err
	}
	if err := cfg.Check(); err != nil {
		return err
	}
	for _, w := range warnings {
		fmt.Fprintln(cmd.ErrOrStderr(), "warning: "+w)
	}
	return f.show(cmd, cfg.Entries(), args)
}

// ofBroker prints the configuration of a broker that runs. It does not tell who set a value, only whether
// it is this server's default.
func (f *configFlags) ofBroker(ctx context.Context, cmd *cobra.Command, c *admin.Client, args []string) error {
	brokers, err := c.Brokers(ctx)
	if err != nil {
		return err
	}
	brokers = slices.DeleteFunc(brokers, func(b admin.Broker) bool { return f.broker != "" && b.Name != f.broker })
	if len(brokers) != 1 {
		return fmt.Errorf("%d brokers are meant: name one with --broker", len(brokers))
	}
	entries, err := c.Entries(ctx, brokers[0])
	if err != nil {
		return err
	}
	return f.show(cmd, entries, args)
}

// show prints the entries that are asked for.
func (f *configFlags) show(cmd *cobra.Command, entries []config.Entry, names []string) error {
	for _, name := range names {
		if !slices.ContainsFunc(entries, func(e config.Entry) bool { return e.Key == name }) {
			return &exitError{exitNotFound, fmt.Errorf("the key %q is not known", name)}
		}
	}
	entries = slices.DeleteFunc(entries, func(e config.Entry) bool {
		return len(names) > 0 && !slices.Contains(names, e.Key) || f.changed && e.Source == config.SourceDefault
	})
	return f.print(cmd, entries, func(out *table) {
		out.row("KEY", "VALUE", "SOURCE")
		for _, e := range entries {
			out.row(e.Key, orDash(e.Value), e.Source)
		}
	})
}
