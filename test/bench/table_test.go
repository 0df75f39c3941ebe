package bench

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
)

// best is the sample with the least CPU per message: what else runs on the machine can only
// add to it.
func best(samples []sample) sample {
	if len(samples) == 0 {
		return sample{}
	}
	return slices.MinFunc(samples, func(a, b sample) int { return cmp.Compare(a.perMessage(), b.perMessage()) })
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
