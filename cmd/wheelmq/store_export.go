package main

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"

	"github.com/wheelmq/wheelmq/broker"
	"github.com/wheelmq/wheelmq/broker/timer"
	"github.com/wheelmq/wheelmq/store/offline"
)

// storeExport makes a copy of a store for the real broker.
func storeExport() *cobra.Command {
	var to string
	var heir broker.Heir
	var output outputFlags
	cmd := &cobra.Command{
		Use: "export --to COPY DIR", Short: "Copy a store so that RocketMQ goes on with all that waits in it",
		Long: "Copy the store in DIR, whose server was stopped, to the new directory COPY, so that a RocketMQ 5.5.0\n" +
			"opens the copy and delivers every message that waits for its time, none of them twice. DIR stays as it\n" +
			"is: start one server or the other from here on, not both.\n\n" +
			"With --broker-name, what pop consumers have in flight comes back when its time is over, and nothing that\n" +
			"they acknowledged; without, groups begin again at the first message in flight to them.\n\n" +
			"Put the printed keys into the real broker's broker.conf.",
		Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
			asJSON, err := output.asJSON()
			if err != nil {
				return err
			}
			return exportStore(cmd, args[0], to, heir, asJSON)
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "directory of the copy; it must be empty or not exist")
	cmd.Flags().StringVar(&heir.BrokerName, "broker-name", "", "brokerName of the RocketMQ that opens the copy, for what pop consumers have in flight")
	cmd.Flags().StringVar(&heir.Cluster, "cluster", "DefaultCluster", "its brokerClusterName")
	output.add(cmd)
	if err := cmd.MarkFlagRequired("to"); err != nil {
		panic(err) // the flag is defined above
	}
	return cmd
}

// exportReport is what a copy holds.
type exportReport struct {
	Copy       string           `json:"copy"`
	Messages   int64            `json:"timers"`  // that wait for an instant
	Cancels    int64            `json:"cancels"` // that wait for their messages
	Lost       int64            `json:"lost"`    // records that cannot be read
	BrokerConf map[string]int64 `json:"brokerConf"`
}

func exportStore(cmd *cobra.Command, dir, to string, heir broker.Heir, asJSON bool) error {
	if within(dir, to) {
		return &exitError{exitNoStore, fmt.Errorf("--to=%q: the copy cannot be inside of the store", to)}
	}
	log := logrus.New()
	log.SetOutput(cmd.ErrOrStderr())
	log.SetLevel(logrus.WarnLevel)
	var done timer.Exported
	report := exportReport{Copy: to}
	err := withStore(dir, func(d *offline.Dir) error {
		found, err := d.Inspect()
		if err != nil {
			return err
		}
		report.BrokerConf = found.BrokerConf
		bar := newProgress(cmd.ErrOrStderr(), "copied")
		done, err = broker.Export(cmd.Context(), dir, to, heir, log, bar.show)
		bar.end()
		return err
	})
	var exit *exitError
	if err != nil && !errors.As(err, &exit) {
		return &exitError{exitNoStore, err}
	}
	if err != nil {
		return err
	}
	report.Messages, report.Cancels, report.Lost = done.Messages, done.Cancels, done.Lost
	return printExport(cmd, &report, asJSON)
}

// within tells whether a path lies in a directory.
func within(dir, path string) bool {
	a, err := filepath.Abs(dir)
	if err != nil {
		return false
	}
	b, err := filepath.Abs(path)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(a, b)
	return err == nil && filepath.IsLocal(rel)
}

func printExport(cmd *cobra.Command, r *exportReport, asJSON bool) error {
	out := cmd.OutOrStdout()
	if asJSON {
		return indented(out, r)
	}
	fmt.Fprintf(out, "%s: %d messages wait for an instant, %d cancels for a message, %d records cannot be read\n",
		r.Copy, r.Messages, r.Cancels, r.Lost)
	fmt.Fprintln(out, "broker.conf:")
	for _, key := range slices.Sorted(maps.Keys(r.BrokerConf)) {
		fmt.Fprintf(out, "  %s=%d\n", key, r.BrokerConf[key])
	}
	return nil
}
