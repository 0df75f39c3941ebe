package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wheelmq/wheelmq/admin"
	"github.com/wheelmq/wheelmq/clock"
)

// tailFlags are the options of tail.
type tailFlags struct {
	askFlags
	last   int
	follow bool
	since  string
	queue  int32
	tags   string
	sql    string
}

func tailCommand() *cobra.Command {
	var f tailFlags
	cmd := &cobra.Command{
		Use: "tail TOPIC", Short: "Print the last messages of a topic, and what comes", Args: cobra.ExactArgs(1), ValidArgsFunction: f.completeTopic(0),
		Long: "Print the last messages of a topic, with --follow what comes too, until a signal ends it.\n" +
			"It reads as no consumer: no group's offset changes. With --json each message is one line.\n\n" + askCodes,
	}
	f.add(cmd)
	cmd.Flags().IntVarP(&f.last, "last", "l", 10, "how many of the last messages")
	cmd.Flags().BoolVarP(&f.follow, "follow", "f", false, "go on with what comes")
	cmd.Flags().StringVar(&f.since, "since", "", "all that was stored since: an instant, or how long ago, as 10m")
	cmd.Flags().Int32Var(&f.queue, "queue", -1, "only of this queue")
	cmd.Flags().StringVar(&f.tags, "tags", "", "only with these tags, as 'a || b'")
	cmd.Flags().StringVar(&f.sql, "sql", "", "only those for which this SQL92 expression holds")
	cmd.MarkFlagsMutuallyExclusive("tags", "sql")
	cmd.MarkFlagsMutuallyExclusive("last", "since")
	cmd.RunE = f.asking(f.run)
	return cmd
}

func (f *tailFlags) run(ctx context.Context, cmd *cobra.Command, c *admin.Client, args []string) error {
	if f.last < 0 {
		return fmt.Errorf("--last=%d: want 0 at least", f.last)
	}
	t := admin.Tail{Topic: args[0], QueueID: f.queue, Filter: admin.Filter{Text: f.tags}, Last: f.last}
	if f.sql != "" {
		t.Filter = admin.Filter{SQL: true, Text: f.sql}
	}
	if f.since != "" {
		at, err := since(f.since)
		if err != nil {
			return err
		}
		t.SinceMs = at.UnixMilli()
	}
	print := func(m *admin.Message) error { return f.message(cmd, m) }
	ends, err := c.Last(ctx, &t, print)
	if err == nil && f.follow {
		err = c.Follow(ctx, &t, ends, print)
	}
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// since reads an instant, or how long ago.
func since(text string) (time.Time, error) {
	if d, err := time.ParseDuration(text); err == nil {
		return time.UnixMilli(clock.Real{}.NowMillis()).Add(-d), nil
	}
	at, err := parseInstant("--since", text)
	if err != nil {
		return at, fmt.Errorf("%w, or how long ago, as 10m", err)
	}
	return at, nil
}

// message prints one message on one line.
func (f *tailFlags) message(cmd *cobra.Command, m *admin.Message) error {
	if f.json {
		return jsonLine(cmd, readable(m))
	}
	words := []string{instantText(m.StoreMs), fmt.Sprintf("%s/%d@%d", m.Broker, m.QueueID, m.QueueOffset), m.MsgID}
	if m.Tags != "" {
		words = append(words, "tags="+m.Tags)
	}
	if m.Keys != "" {
		words = append(words, "keys="+m.Keys)
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), strings.Join(words, " ")+"  "+bodyLine(m))
	return err
}
