// Package mqadmin compares what mqadmin 5.5.0 prints about the selected server
// with what it prints about the real RocketMQ 5.5.0.
package mqadmin

import (
	"regexp"
	"slices"
	"strings"
)

// rule replaces what differs from run to run by a name.
type rule struct {
	pattern *regexp.Regexp
	name    string
}

var (
	volatile = []rule{
		{regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}`), "<time>"},
		{regexp.MustCompile(`\b[0-9A-F]{32,}\b`), "<id>"},
		// Not the digits behind a decimal point: a rate may look like an instant.
		{regexp.MustCompile(`(^|[^.\w])1[789]\d{11}\b`), "${1}<millis>"},
		{regexp.MustCompile(`\b127\.0\.0\.1:\d+\b`), "<addr>"},
		{regexp.MustCompile(`commitLogDiskRatio_\S+:`), "commitLogDiskRatio_<path>:"},
		{regexp.MustCompile(`(CommitLog Offset: *|commitLogOffset=)\d+`), "${1}<n>"},
		{regexp.MustCompile(`Message Body Path: .*`), "Message Body Path: <path>"},
		{regexp.MustCompile(`Topic Put TPS: .*`), "Topic Put TPS: <n>"},
	}
	number = regexp.MustCompile(`\d+(\.\d+)?(E-?\d+)?`)
	// Rates over a second, a minute and an hour: a young server has the first only.
	numbers = regexp.MustCompile(`<n>( <n>)+`)
	unit    = regexp.MustCompile(`\b([KMGT]i)?B\b`)
	blanks  = regexp.MustCompile(`  +`)
)

// mask makes two runs of one command comparable: volatile values get names,
// columns are separated by one blank, a stack trace keeps its messages.
func mask(text string) string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "\tat ") || strings.HasPrefix(line, "\t... ") {
			continue
		}
		for _, r := range volatile {
			line = r.pattern.ReplaceAllString(line, r.name)
		}
		out = append(out, strings.TrimRight(blanks.ReplaceAllString(line, " "), " "))
	}
	return strings.TrimRight(strings.Join(out, "\n"), "\n") + "\n"
}

// toolsRetry is made by the heartbeat of mqadmin's own consumer, if it lives
// long enough to send one.
const toolsRetry = "%RETRY%TOOLS_CONSUMER"

// topicSet is for the list of topics, whose order is that of a hash table.
func topicSet(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	lines = slices.DeleteFunc(lines, func(topic string) bool { return topic == toolsRetry })
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}

var indexKeyOffset = regexp.MustCompile(`(?m)@\d+$`)

// maskIndexKey hides the log offset at the end of an index key.
func maskIndexKey(text string) string { return indexKeyOffset.ReplaceAllString(text, "@<n>") }

// maskRows replaces every number below the title line: load and traffic.
func maskRows(text string) string {
	title, rows, found := strings.Cut(text, "\n")
	if !found {
		return text
	}
	// The version is a number that must not vary.
	const version = "V5_5_0"
	rows = strings.ReplaceAll(rows, version, "<version>")
	rows = number.ReplaceAllString(rows, "<n>")
	return title + "\n" + strings.ReplaceAll(rows, "<version>", version)
}

// exactStatus are the entries of brokerStatus whose values are the same in every run.
var exactStatus = []string{"brokerVersionDesc", "brokerActive", "scheduleMessageOffset_"}

// maskStatus keeps every key of a runtime table and the shape of its values.
func maskStatus(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		if slices.ContainsFunc(exactStatus, func(key string) bool { return strings.Contains(line, key) }) {
			continue
		}
		key, value, found := strings.Cut(line, ":")
		if !found {
			continue
		}
		if strings.Contains(key, "putMessageDistributeTime") {
			// Null until the first sample, then a histogram.
			lines[i] = key + ": <histogram>"
			continue
		}
		value = numbers.ReplaceAllString(number.ReplaceAllString(value, "<n>"), "<n>")
		lines[i] = key + ":" + unit.ReplaceAllString(value, "<unit>")
	}
	return strings.Join(lines, "\n") + "\n"
}
