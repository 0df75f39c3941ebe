package main

import (
	"cmp"
	"strconv"
)

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
