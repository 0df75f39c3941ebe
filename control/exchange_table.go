package control

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"
)

// Exchanges are the last requests of clients and their answers, oldest first.
func (c *Control) Exchanges() []Exchange {
	if c.opts.Exchanges == nil {
		return nil
	}
	list := []Exchange{}
	for _, x := range c.opts.Exchanges.Last() {
		list = append(list, Exchange(x))
	}
	return list
}

// ExchangeTable is exchanges as text, one a line in aligned columns: when, who, what, about
// which topic, group, queue and offset, the result, and how many ms it took.
func ExchangeTable(list []Exchange) string {
	if len(list) == 0 {
		return "no exchanges\n"
	}
	var s strings.Builder
	w := tabwriter.NewWriter(&s, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "TIME\tSERVER\tCLIENT\tREQUEST\tTOPIC\tGROUP\tQUEUE\tOFFSET\tRESULT\tMS\tFAULT")
	for _, e := range list {
		result := e.Result
		if e.Remark != "" {
			result += ": " + shortened(e.Remark)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s (%d)\t%s\t%s\t%s\t%s\t%s\t%.1f\t%s\n",
			e.At.Format("15:04:05.000"), e.Server, e.Client, e.Name, e.Code, cmp.Or(e.Topic, "-"), cmp.Or(e.Group, "-"),
			cmp.Or(e.QueueID, "-"), cmp.Or(e.Offset, "-"), result, float64(e.Duration.Microseconds())/1000, cmp.Or(e.Fault, "-"))
	}
	// What goes into a strings.Builder arrives.
	_ = w.Flush()
	return s.String()
}

// remarkLength is how much of a remark a line shows, in bytes.
const remarkLength = 80

// shortened is the beginning of a text, on one line.
func shortened(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > remarkLength {
		return strings.ToValidUTF8(text[:remarkLength], "") + "…"
	}
	return text
}
