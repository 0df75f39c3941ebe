package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/wheelmq/wheelmq/admin"
	"github.com/wheelmq/wheelmq/clock"
)

// lagFlags are the options of lag.
type lagFlags struct {
	askFlags
	watch time.Duration
	limit int64
}

// watchEvery is how often --watch looks when it does not say.
const watchEvery = "2s"

func lagCommand() *cobra.Command {
	var f lagFlags
	cmd := &cobra.Command{
		Use: "lag [GROUP]", Short: "Show how far consumer groups are behind", Args: cobra.MaximumNArgs(1), ValidArgsFunction: f.completeGroup(0),
		Long: "Show how far consumer groups are behind, one queue a row when a group is named.\n" +
			"LAG is what a group has not finished with, IN FLIGHT those messages of it that its members have, DELAYED what comes\n" +
			"to its topics when it is due, the group's own retries included.\n" +
			"With --watch the rates are those between two looks; with --json each look is one line then.\n\n" +
			"Exit codes: 0 done, 3 no such group, 5 a server refused, 6 nobody answers, 7 a group is behind by more than --limit, 1 anything else.",
	}
	f.add(cmd)
	cmd.Flags().DurationVarP(&f.watch, "watch", "w", 0, "look again every "+watchEvery+", or as often as it says")
	cmd.Flags().Lookup("watch").NoOptDefVal = watchEvery
	cmd.Flags().Int64Var(&f.limit, "limit", -1, "exit with code 7 when a group is behind by more than this")
	cmd.RunE = f.asking(f.run)
	return cmd
}

// look is what one look at the groups has seen.
type look struct {
	AtMs   int64            `json:"atMs"`
	Groups []admin.GroupLag `json:"groups"`
}

func (f *lagFlags) run(ctx context.Context, cmd *cobra.Command, c *admin.Client, args []string) error {
	if f.watch > 0 && f.limit >= 0 {
		return errors.New("both --watch and --limit")
	}
	if f.watch > 0 && len(args) > 0 {
		// --watch 5s is --watch and a group of that name.
		if _, err := time.ParseDuration(args[0]); err == nil {
			return noArgs(cmd, args)
		}
	}
	var before *look
	for {
		seen, err := f.look(ctx, c, args)
		switch {
		case ctx.Err() != nil && before != nil:
			return nil
		case err != nil && before != nil:
			// What was seen once comes again: servers are restarted.
			fmt.Fprintln(cmd.ErrOrStderr(), "wheelmq:", err)
			seen = before
		case err != nil:
			return err
		default:
			if err := f.show(cmd, seen, before, len(args) > 0); err != nil {
				return err
			}
		}
		if f.watch <= 0 {
			return f.judge(seen)
		}
		if !pause(ctx, f.watch) {
			return nil
		}
		before = seen
	}
}

func (f *lagFlags) look(ctx context.Context, c *admin.Client, args []string) (*look, error) {
	seen := &look{AtMs: clock.Real{}.NowMillis(), Groups: []admin.GroupLag{}}
	if len(args) == 0 {
		lags, err := c.Lags(ctx)
		seen.Groups = append(seen.Groups, lags...)
		return seen, err
	}
	lag, err := c.Lag(ctx, args[0])
	if err == nil && len(lag.Queues) == 0 {
		// Without progress: does it exist at all?
		_, err = c.Group(ctx, args[0])
	}
	seen.Groups = append(seen.Groups, lag)
	return seen, err
}

// judge fails when a group is behind by more than the limit.
func (f *lagFlags) judge(seen *look) error {
	for _, g := range seen.Groups {
		if f.limit >= 0 && g.Lag > f.limit {
			return &exitError{exitOver, fmt.Errorf("group %s is behind by %d messages, more than %d", g.Group, g.Lag, f.limit)}
		}
	}
	return nil
}

func (f *lagFlags) show(cmd *cobra.Command, seen, before *look, queues bool) error {
	if f.json && f.watch > 0 {
		return jsonLine(cmd, seen)
	}
	if f.watch > 0 && onTerminal(cmd.OutOrStdout()) {
		// One look replaces the one before.
		fmt.Fprint(cmd.OutOrStdout(), "\x1b[H\x1b[2J")
	}
	return f.print(cmd, seen, func(out *table) {
		if queues {
			out.queueLags(&seen.Groups[0])
		} else {
			out.groupLags(seen, before)
		}
	})
}

func (t *table) groupLags(seen, before *look) {
	t.row("GROUP", "LAG", "IN FLIGHT", "DELAYED", "BEHIND", "IN/S", "OUT/S")
	for _, g := range seen.Groups {
		in, out := "-", strconv.FormatFloat(g.TPS, 'f', 1, 64)
		if old := before.group(g.Group); old != nil {
			in, out = rates(&g, old, seen.AtMs-before.AtMs)
		}
		t.row(g.Group, number(g.Lag), number(g.InFlight), waitingText(g.Delayed), behind(g.Queues, seen.AtMs), in, out)
	}
}

func (l *look) group(name string) *admin.GroupLag {
	if l == nil {
		return nil
	}
	for i := range l.Groups {
		if l.Groups[i].Group == name {
			return &l.Groups[i]
		}
	}
	return nil
}

// rates are messages a second that came, and that were consumed, between two looks.
func rates(now, before *admin.GroupLag, ms int64) (in, out string) {
	ends := func(g *admin.GroupLag) (end, committed int64) {
		for _, q := range g.Queues {
			end, committed = end+q.End, committed+q.Committed
		}
		return end, committed
	}
	end, committed := ends(now)
	oldEnd, oldCommitted := ends(before)
	rate := func(n int64) string { return strconv.FormatFloat(float64(n)*1000/float64(max(ms, 1)), 'f', 1, 64) }
	return rate(end - oldEnd), rate(committed - oldCommitted)
}

// behind is for how long the oldest message that is not consumed waits at least, as far as it is known:
// since after the last one that is consumed was stored, in the queue where that is longest ago.
func behind(queues []admin.QueueLag, nowMs int64) string {
	oldest := int64(0)
	for _, q := range queues {
		if q.End > q.Committed && q.ConsumedMs > 0 && (oldest == 0 || q.ConsumedMs < oldest) {
			oldest = q.ConsumedMs
		}
	}
	if oldest == 0 {
		return "-"
	}
	return "< " + (time.Duration(max(0, nowMs-oldest)) * time.Millisecond).Round(time.Second).String()
}

func (t *table) queueLags(g *admin.GroupLag) {
	t.row("TOPIC", "BROKER", "QUEUE", "COMMITTED", "END", "LAG", "IN FLIGHT", "LAST CONSUMED WAS STORED")
	for _, q := range g.Queues {
		t.row(q.Topic, q.Broker, strconv.Itoa(int(q.QueueID)), number(q.Committed), number(q.End), number(q.Lag), number(q.InFlight), instantOrDash(q.ConsumedMs))
	}
	t.row(number(g.Lag), "in all")
	for _, topic := range slices.Sorted(maps.Keys(g.Delayed)) {
		t.row(number(g.Delayed[topic]), "delayed, on their way to "+topic)
	}
}
