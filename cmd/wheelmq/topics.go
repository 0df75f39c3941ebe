package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wheelmq/wheelmq/admin"
)

func topicsCommand() *cobra.Command {
	var f askFlags
	var all bool
	cmd := &cobra.Command{
		Use: "topics [TOPIC]", Short: "List the topics, or the queues of one", Args: cobra.MaximumNArgs(1), ValidArgsFunction: f.completeTopic(0),
		Long: "List the topics, or the queues of one, as all registered brokers have them.\n\n" + askCodes,
	}
	f.add(cmd)
	cmd.Flags().BoolVarP(&all, "all", "a", false, "also those of the system, of retries and of dead letters")
	cmd.RunE = f.asking(func(ctx context.Context, cmd *cobra.Command, c *admin.Client, args []string) error {
		if len(args) > 0 {
			return f.topicQueues(ctx, cmd, c, args[0])
		}
		return f.topicList(ctx, cmd, c, all)
	})
	cmd.AddCommand(f.createTopic(), f.deleteTopic())
	return cmd
}

// askCodes are the exit codes of the commands that ask.
const askCodes = "Exit codes: 0 done, 3 no such topic, group or message, 5 a server refused, 6 nobody answers, 1 anything else."

func (f *askFlags) topicList(ctx context.Context, cmd *cobra.Command, c *admin.Client, all bool) error {
	bar := asked(cmd)
	topics, err := c.Topics(ctx, bar.show)
	bar.end()
	if err != nil {
		return err
	}
	if !all {
		topics = slices.DeleteFunc(topics, func(t admin.Topic) bool { return t.Kind != admin.KindUser })
	}
	if topics == nil {
		topics = []admin.Topic{}
	}
	return f.print(cmd, topics, func(out *table) {
		out.row("TOPIC", "KIND", "QUEUES", "PERM", "TYPE", "MESSAGES", "NEWEST", "BROKERS")
		for _, t := range topics {
			queues := strconv.Itoa(int(t.ReadQueues))
			if t.ReadQueues != t.WriteQueues {
				queues += " read, " + strconv.Itoa(int(t.WriteQueues)) + " write"
			}
			out.row(t.Name, t.Kind, queues, t.Perm, orDash(t.Type), number(t.Messages), instantOrDash(t.LastMs), strings.Join(t.Brokers, " "))
		}
	})
}

// topicDetails are what is shown of one topic.
type topicDetails struct {
	Topic  string        `json:"topic"`
	Queues []admin.Queue `json:"queues"`
	Groups []string      `json:"groups"` // that read it, or have read it
}

func (f *askFlags) topicQueues(ctx context.Context, cmd *cobra.Command, c *admin.Client, topic string) error {
	queues, err := c.Queues(ctx, topic)
	if err != nil {
		return err
	}
	groups, err := c.Readers(ctx, topic)
	if err != nil {
		return err
	}
	return f.print(cmd, topicDetails{topic, queues, groups}, func(out *table) {
		out.row("BROKER", "QUEUE", "MIN", "MAX", "MESSAGES", "NEWEST")
		for _, q := range queues {
			out.row(q.Broker, strconv.Itoa(int(q.ID)), number(q.Min), number(q.Max), number(q.Max-q.Min), instantOrDash(q.LastMs))
		}
		out.row("read by:", orDash(strings.Join(groups, " ")))
	})
}

func (f *askFlags) createTopic() *cobra.Command {
	var queues int32
	var kind string
	cmd := &cobra.Command{Use: "create TOPIC", Short: "Create a topic on every broker, or change it", Args: cobra.ExactArgs(1)}
	cmd.Flags().Int32VarP(&queues, "queues", "q", 8, "queues on each broker")
	cmd.Flags().StringVar(&kind, "type", "", "NORMAL, FIFO, DELAY, TRANSACTION or MIXED; proxies hold senders to it")
	cmd.RunE = f.asking(func(ctx context.Context, cmd *cobra.Command, c *admin.Client, args []string) error {
		if queues < 1 {
			return fmt.Errorf("--queues=%d: want 1 at least, a topic without queues takes no message", queues)
		}
		if err := c.CreateTopic(ctx, args[0], queues, kind); err != nil {
			return err
		}
		return f.print(cmd, map[string]string{"created": args[0]}, func(out *table) { out.row(args[0], "is there") })
	})
	return cmd
}

func (f *askFlags) deleteTopic() *cobra.Command {
	var sure bool
	cmd := &cobra.Command{
		Use: "delete TOPIC", Short: "Delete a topic and all its messages", Args: cobra.ExactArgs(1), ValidArgsFunction: f.completeTopic(0),
	}
	cmd.Flags().BoolVar(&sure, "yes", false, "its messages are not wanted any more")
	cmd.RunE = f.asking(func(ctx context.Context, cmd *cobra.Command, c *admin.Client, args []string) error {
		if !sure {
			return errors.New("all messages of " + args[0] + " would be lost: say --yes")
		}
		if err := c.DeleteTopic(ctx, args[0]); err != nil {
			return err
		}
		return f.print(cmd, map[string]string{"deleted": args[0]}, func(out *table) { out.row(args[0], "is deleted") })
	})
	return cmd
}
