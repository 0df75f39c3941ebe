package config

import (
	_ "embed" // the names of the real broker's keys
	"fmt"
	"slices"
	"strings"
)

//go:embed rocketmq_keys.txt
var realKeyNames string

// realKeys are the keys that the real broker 5.5.0 reports of itself, sorted, and the few that
// it reads besides.
var realKeys = strings.Fields(realKeyNames)

// folklore are keys that operators find in articles and that never did what those say.
var folklore = map[string]string{
	"scheduleInterval":  "due messages are delivered at their millisecond, not at an interval",
	"maxDelayLevel":     "the number of levels is that of messageDelayLevel's items",
	"scheduleStorePath": "delay offsets are kept in config/delayOffset.json below storePathRootDir",
}

// withoutEffect says why a key is ignored.
func withoutEffect(key, value string) string {
	if reason, ok := folklore[key]; ok {
		return fmt.Sprintf("%s=%s has no effect: %s", key, value, reason)
	}
	if _, known := slices.BinarySearch(realKeys, key); known {
		return fmt.Sprintf("%s=%s has no effect: RocketMQ knows this key, this server does not support it", key, value)
	}
	if near := nearest(key); near != "" {
		return fmt.Sprintf("%s=%s is ignored: unknown key, did you mean %s?", key, value, near)
	}
	return fmt.Sprintf("%s=%s is ignored: unknown key", key, value)
}

// nearest is the key that this server serves, else one that RocketMQ knows, within two edits of
// a misspelt one. "" when there is none.
func nearest(key string) string {
	own := make([]string, 0, len(keys))
	for _, k := range keys {
		own = append(own, k.Name)
	}
	if best := Nearest(key, own); best != "" {
		return best
	}
	return Nearest(key, realKeys)
}

// Nearest is the first of the names that a misspelt one is nearest to, within two edits; letter
// case does not count. "" when there is none.
func Nearest(word string, names []string) string {
	best, at := "", 3
	for _, name := range names {
		// Each edit makes a text one byte longer or shorter at most, and a word may be a whole frame.
		if len(word) >= len(name)+at || len(name) >= len(word)+at {
			continue
		}
		if d := distance(strings.ToLower(word), strings.ToLower(name)); d < at {
			best, at = name, d
		}
	}
	return best
}

// distance is the number of single-byte edits between two texts.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			diagonal, row[j] = row[j], min(row[j]+1, row[j-1]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
