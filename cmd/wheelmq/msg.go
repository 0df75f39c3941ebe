package main

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/wheelmq/wheelmq/admin"
)

// msgFlags are the options of msg.
type msgFlags struct {
	askFlags
	topic string
	key   bool
	body  bool
}

func msgCommand() *cobra.Command {
	var f msgFlags
	cmd := &cobra.Command{
		Use: "msg ID", Short: "Show a message and where its records are", Args: cobra.ExactArgs(1),
		Long: "Show a message by the id that a send answered, a record's id, or one of its keys.\n" +
			"A message has several records when it was delayed, part of a transaction, or retried.\n\n" + askCodes,
	}
	f.add(cmd)
	cmd.Flags().StringVarP(&f.topic, "topic", "t", "", "its topic, so that not all are looked through")
	cmd.Flags().BoolVarP(&f.key, "key", "k", false, "ID is one of the message's keys; wants --topic")
	cmd.Flags().BoolVar(&f.body, "body", false, "print the body only, as it is")
	completeFlag(cmd, "topic", f.completeTopic(0))
	cmd.RunE = f.asking(f.run)
	return cmd
}

func (f *msgFlags) run(ctx context.Context, cmd *cobra.Command, c *admin.Client, args []string) error {
	found, err := f.find(ctx, cmd, c, args[0])
	if err != nil {
		return err
	}
	if f.body {
		_, err := cmd.OutOrStdout().Write(found[len(found)-1].Body)
		return err
	}
	list := make([]readableMessage, len(found))
	for i := range found {
		list[i] = readable(&found[i])
	}
	return f.print(cmd, list, func(out *table) {
		for i := range found {
			if i > 0 {
				out.row("")
			}
			out.message(&found[i])
		}
	})
}

func (f *msgFlags) find(ctx context.Context, cmd *cobra.Command, c *admin.Client, id string) ([]admin.Message, error) {
	if !f.key {
		bar := asked(cmd)
		defer bar.end()
		return c.Find(ctx, id, f.topic, bar.show)
	}
	if f.topic == "" {
		return nil, errors.New("--key without --topic: keys are those of one topic")
	}
	found, err := c.WithKey(ctx, f.topic, id)
	if err == nil && len(found) == 0 {
		err = errors.Join(errors.New("no message of "+f.topic+" has the key "+strconv.Quote(id)), admin.ErrNotFound)
	}
	return found, err
}

func (t *table) message(m *admin.Message) {
	t.row("topic:", m.Topic)
	t.row("queue:", m.Broker+", queue "+strconv.Itoa(int(m.QueueID))+", offset "+number(m.QueueOffset))
	t.row("id:", m.MsgID)
	t.row("record:", m.OffsetMsgID)
	t.row("born:", instantText(m.BornMs)+" at "+m.BornHost)
	t.row("stored:", instantText(m.StoreMs))
	if m.ReconsumeTimes > 0 {
		t.row("retries:", strconv.Itoa(int(m.ReconsumeTimes)))
	}
	for _, name := range slices.Sorted(maps.Keys(m.Properties)) {
		t.row("property:", name+"="+m.Properties[name])
	}
	t.row("body:", bodyLine(m))
}
