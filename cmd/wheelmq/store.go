package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/wheelmq/wheelmq/store"
	"github.com/wheelmq/wheelmq/store/offline"
	"github.com/wheelmq/wheelmq/store/region"
)

// storeCommand looks into a directory that no server has open.
func storeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "store", Short: "Look into a store directory, of this server or of RocketMQ, or copy it",
		Long: "Look into a store directory, of this server or of RocketMQ, that no server has open, or copy it.\n" +
			"Nothing in it changes, and no server opens it meanwhile.\n\n" +
			"Exit codes: 0 sound, 1 damaged, 2 not a store, in use, or one that this server refuses to open.",
		Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			return errors.Join(cmd.Help(), errors.New("name a command, for example wheelmq store check DIR"))
		},
	}
	cmd.AddCommand(
		storeReader("inspect DIR", "Show what a store holds", inspectStore),
		storeReader("check DIR", "Read everything in a store and report what is damaged", checkStore),
		storeExport(),
	)
	return cmd
}

// outputFlags say how a report is printed.
type outputFlags struct {
	format string
	json   bool
}

func (o *outputFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.format, "output", "o", "text", "text or json")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON, as -o json")
}

func (o *outputFlags) asJSON() (bool, error) {
	if o.format != "text" && o.format != "json" {
		return false, &exitError{exitNoStore, fmt.Errorf("--output=%q: want text or json", o.format)}
	}
	return o.json || o.format == "json", nil
}

// storeReader is a command that reads the directory it is given.
func storeReader(use, short string, read func(cmd *cobra.Command, d *offline.Dir, asJSON bool) error) *cobra.Command {
	var output outputFlags
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
		asJSON, err := output.asJSON()
		if err != nil {
			return err
		}
		return withStore(args[0], func(d *offline.Dir) error { return read(cmd, d, asJSON) })
	}}
	output.add(cmd)
	return cmd
}

// withStore opens a directory for reading and keeps servers out meanwhile.
func withStore(dir string, read func(*offline.Dir) error) (err error) {
	info, err := os.Stat(dir)
	if err != nil {
		return &exitError{exitNoStore, err}
	}
	if !info.IsDir() {
		return &exitError{exitNoStore, fmt.Errorf("%s is a file, want the directory of a store", dir)}
	}
	unlock, err := store.LockShared(dir)
	if err != nil {
		return &exitError{exitNoStore, fmt.Errorf("%w: stop the server first, its figures would be moving", err)}
	}
	defer unlock()
	d, err := offline.Open(region.OS{Root: dir, ReadOnly: true})
	if err != nil {
		return &exitError{exitNoStore, fmt.Errorf("%s: %w", dir, err)}
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	return read(d)
}

func inspectStore(cmd *cobra.Command, d *offline.Dir, asJSON bool) error {
	report, err := d.Inspect()
	if err != nil {
		return &exitError{exitNoStore, err}
	}
	if err := countTimers(cmd.Flags().Arg(0), report, cmd.ErrOrStderr()); err != nil {
		// A damaged store has more to show.
		report.Unreadable = append(report.Unreadable, err.Error())
	}
	if err := show(cmd.OutOrStdout(), report, asJSON); err != nil {
		return err
	}
	if len(report.Unsupported) > 0 {
		return &exitError{exitNoStore, errors.New("this server refuses to open the store, see what is unsupported")}
	}
	return nil
}

func checkStore(cmd *cobra.Command, d *offline.Dir, asJSON bool) error {
	bar := newProgress(cmd.ErrOrStderr(), "checked")
	result, err := d.Check(bar.show)
	bar.end()
	if err != nil {
		return &exitError{exitNoStore, err}
	}
	if err := show(cmd.OutOrStdout(), result, asJSON); err != nil {
		return err
	}
	switch {
	case result.Refused:
		return &exitError{exitNoStore, errors.New("this server refuses to open the store")}
	case result.Damaged:
		return &exitError{exitDamaged, errors.New("the store is damaged")}
	}
	return nil
}

// show writes a report for people or for programs.
func show(out io.Writer, report io.WriterTo, asJSON bool) error {
	if !asJSON {
		_, err := report.WriteTo(out)
		return err
	}
	return indented(out, report)
}
