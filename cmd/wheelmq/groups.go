package main

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wheelmq/wheelmq/admin"
)

func groupsCommand() *cobra.Command {
	var f askFlags
	cmd := &cobra.Command{
		Use: "groups [GROUP]", Short: "List the consumer groups, or the members of one", Args: cobra.MaximumNArgs(1), ValidArgsFunction: f.completeGroup(0),
		Long: "List the consumer groups, or the members of one and what they subscribe to.\n\n" + askCodes,
	}
	f.add(cmd)
	cmd.RunE = f.asking(func(ctx context.Context, cmd *cobra.Command, c *admin.Client, args []string) error {
		if len(args) > 0 {
			return f.groupDetails(ctx, cmd, c, args[0])
		}
		return f.groupList(ctx, cmd, c)
	})
	return cmd
}

func (f *askFlags) groupList(ctx context.Context, cmd *cobra.Command, c *admin.Client) error {
	bar := asked(cmd)
	groups, err := c.Groups(ctx, bar.show)
	bar.end()
	if err != nil {
		return err
	}
	if groups == nil {
		groups = []admin.Group{}
	}
	return f.print(cmd, groups, func(out *table) {
		out.row("GROUP", "MEMBERS", "CONSUMES", "TOPICS", "LAG", "IN FLIGHT", "DELAYED", "DEAD")
		for _, g := range groups {
			var topics []string
			for _, s := range g.Subscriptions {
				topics = append(topics, s.Topic)
			}
			out.row(g.Name, strconv.Itoa(len(g.Members)), howText(&g), orDash(strings.Join(topics, " ")), number(g.Lag), number(g.InFlight),
				waitingText(g.Delayed), number(g.Dead))
		}
	})
}

// howText says how a group consumes.
func howText(g *admin.Group) string {
	var words []string
	switch {
	case !g.Consuming:
		words = append(words, "switched off")
	case len(g.Members) == 0:
		words = append(words, "offline")
	}
	if kind, ok := map[string]string{"CONSUME_PASSIVELY": "push", "CONSUME_ACTIVELY": "pull", "CONSUME_POP": "pop"}[g.ConsumeType]; ok {
		words = append(words, kind)
	}
	if g.MessageModel == "BROADCASTING" {
		words = append(words, "broadcast")
	}
	if g.Orderly {
		words = append(words, "in order")
	}
	return orDash(strings.Join(words, ", "))
}

func (f *askFlags) groupDetails(ctx context.Context, cmd *cobra.Command, c *admin.Client, name string) error {
	g, err := c.Group(ctx, name)
	if err != nil {
		return err
	}
	return f.print(cmd, &g, func(out *table) {
		out.row("consumes:", howText(&g))
		out.row("lag:", number(g.Lag))
		out.row("in flight:", number(g.InFlight))
		for _, topic := range slices.Sorted(maps.Keys(g.Delayed)) {
			out.row("delayed:", number(g.Delayed[topic]), topic)
		}
		out.row("retries:", strconv.Itoa(int(g.MaxRetries))+" at most")
		out.row("given up:", number(g.Dead))
		for _, m := range g.Members {
			out.row("member:", m.ClientID, m.Addr, m.Language)
		}
		for _, s := range g.Subscriptions {
			out.row("wants:", s.Topic, s.Text, s.Type)
		}
	})
}
