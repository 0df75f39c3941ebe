package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wheelmq/wheelmq/admin"
)

// sendFlags are the options of send.
type sendFlags struct {
	askFlags
	tags, keys string
	properties []string
	level      int
	in         time.Duration
	at         string
	queue      int32
	file       string
	lines      bool
	count      int
}

func sendCommand() *cobra.Command {
	var f sendFlags
	cmd := &cobra.Command{
		Use: "send TOPIC [BODY]", Short: "Send a message, or many", Args: cobra.RangeArgs(1, 2), ValidArgsFunction: f.completeTopic(0),
		Long: "Send a message. Without BODY it is read from --file, or from stdin.\n\n" + askCodes,
		Example: "  wheelmq send orders 'hello' --tags a --keys order-17\n" +
			"  wheelmq send orders --in 90s < order.json\n" +
			"  wheelmq send orders --lines < orders.jsonl",
	}
	f.add(cmd)
	cmd.Flags().StringVar(&f.tags, "tags", "", "its tag")
	cmd.Flags().StringVar(&f.keys, "keys", "", "its keys, with blanks between")
	cmd.Flags().StringArrayVarP(&f.properties, "property", "p", nil, "name=value; may be repeated")
	cmd.Flags().IntVar(&f.level, "level", 0, "delay level, from 1 to the broker's last")
	cmd.Flags().DurationVar(&f.in, "in", 0, "deliver it after this time")
	cmd.Flags().StringVar(&f.at, "at", "", "deliver it at this instant: RFC 3339 or milliseconds since 1970")
	cmd.Flags().Int32Var(&f.queue, "queue", -1, "queue to send to, else each in turn")
	cmd.Flags().StringVar(&f.file, "file", "", "file with the body, - for stdin")
	cmd.Flags().BoolVar(&f.lines, "lines", false, "each line is a message")
	cmd.Flags().IntVar(&f.count, "count", 1, "send it so often")
	cmd.MarkFlagsMutuallyExclusive("level", "in", "at")
	cmd.RunE = f.asking(f.run)
	return cmd
}

func (f *sendFlags) run(ctx context.Context, cmd *cobra.Command, c *admin.Client, args []string) error {
	bodies, err := f.bodies(cmd, args)
	if err != nil {
		return err
	}
	m, err := f.message()
	if err != nil {
		return err
	}
	sender, err := c.Sender(ctx, args[0])
	if err != nil {
		return err
	}
	total := len(bodies) * f.count
	bar := newProgress(cmd.ErrOrStderr(), "sent")
	defer bar.end()
	for i := range total {
		m.Body = bodies[i%len(bodies)]
		sent, err := sender.Send(ctx, m)
		if err != nil {
			return fmt.Errorf("%d of %d messages are sent: %w", i, total, err)
		}
		if err := f.sent(cmd, &sent, total == 1); err != nil {
			return err
		}
		bar.show(int64(i+1), int64(total))
	}
	return nil
}

// sent tells of one message: of one among many on one line, which programs can read.
func (f *sendFlags) sent(cmd *cobra.Command, s *admin.Sent, alone bool) error {
	if f.json && !alone {
		return jsonLine(cmd, s)
	}
	return f.print(cmd, s, func(out *table) {
		queue := s.Broker + ", queue " + strconv.Itoa(int(s.QueueID)) + ", offset " + number(s.QueueOffset)
		if !alone {
			out.row(s.MsgID, queue, s.Status)
			return
		}
		out.row("id:", s.MsgID)
		out.row("record:", s.OffsetMsgID)
		out.row("stored:", queue)
		out.row("status:", s.Status)
		if s.RecallHandle != "" {
			out.row("recall handle:", s.RecallHandle)
		}
	})
}

// message is what is to be sent, without a body.
func (f *sendFlags) message() (*admin.ToSend, error) {
	m := &admin.ToSend{Tags: f.tags, Keys: f.keys, Properties: map[string]string{}, DelayLevel: f.level, QueueID: f.queue}
	for _, p := range f.properties {
		name, value, ok := strings.Cut(p, "=")
		if !ok || name == "" || value == "" || strings.ContainsAny(p, "\x01\x02") {
			return nil, fmt.Errorf("--property=%q: want name=value", p)
		}
		m.Properties[name] = value
	}
	switch {
	case f.at != "":
		at, err := parseInstant("--at", f.at)
		if err != nil {
			return nil, err
		}
		m.DeliverMs = at.UnixMilli()
	case f.in < 0:
		return nil, fmt.Errorf("--in=%v: want a time to come", f.in)
	case f.in > 0:
		m.DelayMs = f.in.Milliseconds()
	}
	if f.level < 0 {
		return nil, fmt.Errorf("--level=%d: want 0 at least", f.level)
	}
	if f.queue < -1 {
		return nil, fmt.Errorf("--queue=%d: want 0 at least", f.queue)
	}
	if f.count < 1 {
		return nil, fmt.Errorf("--count=%d: want 1 at least", f.count)
	}
	return m, nil
}

// bodies are what is to be sent, in order.
func (f *sendFlags) bodies(cmd *cobra.Command, args []string) ([][]byte, error) {
	var text []byte
	var err error
	switch {
	case len(args) == 2 && f.file != "":
		return nil, errors.New("both BODY and --file")
	case len(args) == 2:
		text = []byte(args[1])
	case f.file == "" || f.file == "-":
		text, err = io.ReadAll(cmd.InOrStdin())
	default:
		text, err = os.ReadFile(f.file)
	}
	if err != nil {
		return nil, err
	}
	bodies := [][]byte{text}
	if f.lines {
		bodies = bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	}
	for i, body := range bodies {
		if len(body) == 0 {
			return nil, fmt.Errorf("body %d is empty, which no broker takes", i+1)
		}
	}
	return bodies, nil
}
