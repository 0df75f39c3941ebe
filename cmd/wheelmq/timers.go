package main

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// timersCommand looks at what waits in a running server, and changes it.
func timersCommand() *cobra.Command {
	t := &timersClient{}
	cmd := &cobra.Command{
		Use: "timers", Short: "Look at the messages that wait in a running server, and change them",
		Long: "Look at the messages that wait for their time in a running server, and change them.\n" +
			"It asks the server's HTTP port, from the same machine or with the token that the server was started with.\n" +
			"With --store list, count and find look into a directory whose server is stopped, of RocketMQ too; nothing in it changes.\n\n" +
			"Exit codes: 0 done, 3 no such message waits, 4 too late: it is delivered or on its way, 5 refused, 6 no server answers, 1 anything else.",
		Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			return errors.Join(cmd.Help(), errors.New("name a command, for example wheelmq timers list"))
		},
	}
	t.add(cmd)
	cmd.PersistentFlags().StringVar(&t.store, "store", "", "directory of a store whose server is stopped, to look into it")
	cmd.AddCommand(t.list(), t.count(), t.find(), t.fire(), t.reschedule(), t.cancel(), t.parked())
	return cmd
}

// selection are the flags that select messages.
type selection struct {
	topic, from, to, after string
	limit                  int
}

func (s *selection) add(cmd *cobra.Command, paged bool) {
	cmd.Flags().StringVar(&s.topic, "topic", "", "only those for this topic")
	cmd.Flags().StringVar(&s.from, "from", "", "only those due at this instant or later: RFC 3339 or milliseconds since 1970")
	cmd.Flags().StringVar(&s.to, "to", "", "only those due before this instant")
	if paged {
		cmd.Flags().StringVar(&s.after, "after", "", "go on behind this place, which the page before ended with")
		cmd.Flags().IntVar(&s.limit, "limit", 100, "how many at most")
	}
}

// query is what is selected, as parameters of the API.
func (s *selection) query() url.Values {
	query := url.Values{}
	for name, value := range map[string]string{"topic": s.topic, "from": s.from, "to": s.to, "after": s.after} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if s.limit != 0 {
		query.Set("limit", strconv.Itoa(s.limit))
	}
	return query
}

func (t *timersClient) list() *cobra.Command {
	var s selection
	cmd := &cobra.Command{Use: "list", Short: "List them in the order in which they are due", Args: noArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		page, body, err := t.page(cmd, s.query())
		return t.show(cmd, body, err, func(out *table) { out.pending(&page) })
	}}
	s.add(cmd, true)
	return cmd
}

func (t *timersClient) find() *cobra.Command {
	s := selection{limit: 100}
	return &cobra.Command{Use: "find KEY", Short: "Find messages by a key or their message ID", Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
		query := s.query()
		query.Set("key", args[0])
		page, body, err := t.page(cmd, query)
		if err == nil && len(page.Pending) == 0 {
			return &exitError{exitNotFound, errors.New("no message waits with the key " + strconv.Quote(args[0]))}
		}
		return t.show(cmd, body, err, func(out *table) { out.pending(&page) })
	}}
}

func (t *timersClient) count() *cobra.Command {
	var s selection
	var step string
	cmd := &cobra.Command{Use: "count", Short: "Count them by topic, or by the time they are due", Args: noArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		query := s.query()
		if step != "" {
			query.Set("step", step)
		}
		counts, body, err := t.counts(cmd, query)
		return t.show(cmd, body, err, func(out *table) {
			out.row("MESSAGES", map[bool]string{true: "TOPIC", false: "DUE FROM"}[step == ""])
			for _, c := range counts.Counts {
				out.row(strconv.FormatInt(c.Messages, 10), cmp.Or(c.Topic, instantText(c.FromMs)))
			}
			out.row(strconv.FormatInt(counts.Total, 10), "in all")
		})
	}}
	s.add(cmd, false)
	cmd.Flags().StringVar(&step, "step", "", "count by steps of time, for example 1h")
	return cmd
}

// change is a command that changes one message.
func (t *timersClient) change(use, short, method, path, done string) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
		kind, action, _ := strings.Cut(path, "*")
		_, err := t.call(cmd.Context(), method, kind+url.PathEscape(args[0])+action, nil, nil)
		return t.show(cmd, nil, err, func(out *table) { out.row(args[0], done) })
	}}
}

func (t *timersClient) fire() *cobra.Command {
	return t.change("fire ID", "Deliver one now", http.MethodPost, "pending/*/fire", "is due now")
}

func (t *timersClient) cancel() *cobra.Command {
	return t.change("cancel ID", "Cancel one", http.MethodDelete, "pending/*", "is cancelled")
}

func (t *timersClient) reschedule() *cobra.Command {
	var at string
	var in time.Duration
	cmd := &cobra.Command{Use: "reschedule ID", Short: "Give one another instant, and with it another ID", Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
		query := url.Values{}
		switch {
		case (at == "") == !cmd.Flags().Changed("in"):
			return errors.New("want either --at or --in")
		case at != "":
			query.Set("at", at)
		default:
			query.Set("in", in.String())
		}
		var got struct {
			ID string `json:"id"`
		}
		body, err := t.call(cmd.Context(), http.MethodPost, "pending/"+url.PathEscape(args[0])+"/reschedule", query, &got)
		return t.show(cmd, body, err, func(out *table) { out.row(got.ID) })
	}}
	cmd.Flags().StringVar(&at, "at", "", "the instant: RFC 3339 or milliseconds since 1970")
	cmd.Flags().DurationVar(&in, "in", 0, "how long from now")
	return cmd
}
