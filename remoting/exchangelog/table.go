package exchangelog

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// maxRemark is the longest remark in a table, characters.
const maxRemark = 100

// WriteTable writes the exchanges as an aligned text table, one a line below a line of titles.
func WriteTable(w io.Writer, list []Exchange) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(cells ...string) {
		// A tabwriter keeps its first error for Flush.
		_, _ = fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	row("TIME", "SERVER", "CLIENT", "REQUEST", "TOPIC", "GROUP", "QUEUE", "OFFSET", "RESULT", "MS", "FAULT", "REMARK")
	for i := range list {
		x := &list[i]
		row(x.At.Format("15:04:05.000"), x.Server, cell(x.Client), x.Name, cell(x.Topic), cell(x.Group), cell(x.QueueID), cell(x.Offset),
			x.Result, fmt.Sprint(x.Duration.Milliseconds()), cell(x.Fault), remark(x.Remark))
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("exchangelog: %w", err)
	}
	return nil
}

// cell keeps a column from looking like the one beside it.
func cell(text string) string {
	if text == "" {
		return "-"
	}
	return line(text)
}

// line makes one line of a client's text.
func line(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
}

func remark(text string) string {
	text = line(text)
	if utf8.RuneCountInString(text) > maxRemark {
		text = string([]rune(text)[:maxRemark]) + "…"
	}
	return text
}
