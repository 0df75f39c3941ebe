package main

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/wheelmq/wheelmq/control"
)

// parkedCommand looks at what a running server has parked, and deals with it.
func parkedCommand() *cobra.Command {
	t := &timersClient{}
	cmd := t.parked()
	cmd.Long += "\n\nExit codes: 0 done, 3 no such message is parked, 5 its topic refuses it again, 6 no server answers, 1 anything else."
	t.add(cmd)
	return cmd
}

func (t *timersClient) parked() *cobra.Command {
	cmd := &cobra.Command{
		Use: "parked", Short: "Look at due messages that their topics refused, and deal with them", Args: noArgs,
		Long: "List the messages that were due and that their topics refused for good, as one that was deleted. They stay until they\n" +
			"are driven again, or dropped.",
	}
	list := &cobra.Command{Use: "list", Short: "List them", Args: noArgs}
	for _, c := range []*cobra.Command{cmd, list} {
		limit := c.Flags().Int("limit", 100, "how many at most")
		c.RunE = func(cmd *cobra.Command, _ []string) error { return t.parkedList(cmd, *limit) }
	}
	cmd.AddCommand(
		list,
		t.change("redrive ID", "Store one in its topic after all", http.MethodPost, "parked/*/redrive", "is in its topic"),
		t.change("drop ID", "Forget one", http.MethodDelete, "parked/*", "is forgotten"),
	)
	return cmd
}

func (t *timersClient) parkedList(cmd *cobra.Command, limit int) error {
	var got struct {
		Total  int64            `json:"total"`
		Parked []control.Parked `json:"parked"`
	}
	body, err := t.call(cmd.Context(), http.MethodGet, "parked", url.Values{"limit": {strconv.Itoa(limit)}}, &got)
	return t.show(cmd, body, err, func(out *table) {
		out.row("ID", "TOPIC", "MESSAGE ID", "SERVICE", "REASON")
		for _, p := range got.Parked {
			out.row(p.ID, p.Topic, p.MsgID, p.Service, p.Reason)
		}
		out.row(strconv.FormatInt(got.Total, 10), "in all")
	})
}
