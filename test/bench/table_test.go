package bench

import (
	"fmt"
	"os"
	"sort"
	"strconv"
)

// median is the sample with the median CPU per message.
func median(samples []sample) sample {
	if len(samples) == 0 {
		return sample{}
	}
	sorted := append([]sample(nil), samples...)
	sort.Slice(sorted, func(i, j int) bool { return sorted[i].perMessage() < sorted[j].perMessage() })
	return sorted[len(sorted)/2]
}

func micros(s sample) string {
	if s.messages == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", s.perMessage())
}

func ratio(a, b sample) string {
	if a.messages == 0 || b.messages == 0 || b.cpu == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f", a.perMessage()/b.perMessage())
}

func rate(s sample) string {
	if s.messages == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f", s.rate())
}

func envInt(name string, fallback int) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		return fallback
	}
	return n
}
