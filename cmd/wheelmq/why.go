package main

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/wheelmq/wheelmq/admin"
	"github.com/wheelmq/wheelmq/admin/explain"
	"github.com/wheelmq/wheelmq/clock"
)

func whyCommand() *cobra.Command {
	var f askFlags
	var topic string
	cmd := &cobra.Command{
		Use: "why ID", Short: "Say where a message is, and why it does not arrive", Args: cobra.ExactArgs(1),
		Long: "Say where a message is, and what each consumer group made of it. ID is what the send answered, or a record's id.\n\n" + askCodes,
	}
	f.add(cmd)
	cmd.Flags().StringVarP(&topic, "topic", "t", "", "its topic, so that not all are looked through")
	completeFlag(cmd, "topic", f.completeTopic(0))
	cmd.RunE = f.asking(func(ctx context.Context, cmd *cobra.Command, c *admin.Client, args []string) error {
		bar := asked(cmd)
		e, err := explain.Explain(ctx, c, explain.Options{ID: args[0], Topic: topic, Clock: clock.Real{}, Show: bar.show})
		bar.end()
		if err != nil {
			return err
		}
		return f.print(cmd, &e, func(out *table) { out.explanation(&e) })
	})
	return cmd
}

func (t *table) explanation(e *explain.Explanation) {
	t.row(string(e.State)+":", e.Sentence)
	for _, g := range e.Groups {
		t.row("group "+g.Group+":", string(g.State)+", "+g.Says)
	}
	for _, r := range e.Records {
		t.row("record:", r.Topic+", "+r.Broker+", queue "+strconv.Itoa(int(r.QueueID))+", offset "+number(r.QueueOffset)+", stored "+instantText(r.StoreMs))
	}
}
