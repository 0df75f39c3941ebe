package schedule

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// DefaultLevels is the real broker's messageDelayLevel.
const DefaultLevels = "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h"

// Levels are the delays in ms; level n is Levels[n-1].
type Levels []int64

// ParseLevels reads messageDelayLevel: items of a number and a unit s, m, h or d, separated by
// single blanks. The error names the item that cannot be read.
func ParseLevels(text string) (Levels, error) {
	var levels Levels
	for item := range strings.SplitSeq(text, " ") {
		ms, err := parseLevel(item)
		if err != nil {
			return nil, fmt.Errorf("messageDelayLevel %q: item %d, %q: %w", text, len(levels)+1, item, err)
		}
		levels = append(levels, ms)
	}
	return levels, nil
}

func parseLevel(item string) (int64, error) {
	if len(item) < 2 {
		return 0, fmt.Errorf("want a number and a unit s, m, h or d")
	}
	units := map[byte]int64{'s': 1000, 'm': 60_000, 'h': 3_600_000, 'd': 86_400_000}
	unit, ok := units[item[len(item)-1]]
	if !ok {
		return 0, fmt.Errorf("the unit is none of s, m, h, d")
	}
	n, err := strconv.ParseInt(item[:len(item)-1], 10, 64)
	if err != nil || n <= 0 || n > math.MaxInt64/unit {
		return 0, fmt.Errorf("the number is not a positive integer")
	}
	return n * unit, nil
}

// Clamp is the level that a message of the given level gets, at most the highest.
func (l Levels) Clamp(level int64) int64 { return min(level, int64(len(l))) }

// DelayMs is the delay of a level, ms; of a level beyond the highest that of the highest.
func (l Levels) DelayMs(level int64) int64 { return l[l.Clamp(level)-1] }
