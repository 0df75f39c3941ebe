package main

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// table has columns that stand one below another.
type table struct{ w *tabwriter.Writer }

// row adds a row; what goes wrong is told when all is written.
func (t *table) row(columns ...string) { fmt.Fprintln(t.w, strings.Join(columns, "\t")) }

// printTable prints a table that fill fills.
func printTable(to io.Writer, fill func(out *table)) error {
	out := &table{tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)}
	fill(out)
	return out.w.Flush()
}

// orDash is what stands in a column that has nothing to say.
func orDash(text string) string { return cmp.Or(text, "-") }

func number(n int64) string { return strconv.FormatInt(n, 10) }

// instantOrDash is an instant, ms since the epoch; 0: there is none.
func instantOrDash(ms int64) string {
	if ms <= 0 {
		return "-"
	}
	return instantText(ms)
}

// waitingText is how many delayed messages are on their way, by topic; nil: no broker tells.
func waitingText(delayed map[string]int64) string {
	if delayed == nil {
		return "-"
	}
	n := int64(0)
	for _, of := range delayed {
		n += of
	}
	return number(n)
}

// instantText is an instant, ms, for people and for --at.
func instantText(ms int64) string {
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z07:00")
}
