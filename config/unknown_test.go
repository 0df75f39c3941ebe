package config_test

import (
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/config"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"ab", "listenPort"}
	for word, want := range map[string]string{
		"listenport": "listenPort", "listnPort": "listenPort", "listenPortss": "listenPort", "listenPortsss": "", "istenPor": "listenPort",
		"isenPor": "", "": "ab", "a": "ab", "abcd": "ab", "abcde": "", "xyz": "",
		// A word as long as a frame: compared byte by byte it would take minutes.
		strings.Repeat("[", 16<<20): "",
	} {
		if got := config.Nearest(word, names); got != want {
			t.Errorf("%.20q of %d bytes: %q, want %q", word, len(word), got, want)
		}
	}
}
