package message_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/message"
)

// pairs lists properties as a reader sees them.
func pairs(props string) string {
	var all []string
	message.PropertyEach([]byte(props), func(name, value []byte) { all = append(all, fmt.Sprintf("%s=%s", name, value)) })
	return strings.Join(all, " ")
}

// The rules are those of the real broker's reader.
func TestPropertyEach(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"empty":            {"", ""},
		"one":              {"A\x011\x02", "A=1"},
		"last one open":    {"A\x011\x02B\x012", "A=1 B=2"},
		"no value":         {"A\x01\x02B\x012\x02", "B=2"},
		"no name":          {"\x011\x02B\x012\x02", "B=2"},
		"no separator":     {"junk\x02B\x012\x02", "B=2"},
		"separators alone": {"\x02\x02\x01\x02", ""},
		"0x01 in a value":  {"A\x01x\x01y\x02", "A=x\x01y"},
		"duplicates":       {"A\x011\x02A\x012\x02", "A=1 A=2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := pairs(c.in); got != c.want {
				t.Fatalf("%q reads as %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func TestPropertyGet(t *testing.T) {
	t.Parallel()
	props := []byte("A\x011\x02AB\x012\x02A\x013\x02E\x01\x02")
	for key, want := range map[string]string{"A": "3", "AB": "2", "B": "", "E": "", "": ""} {
		if got, ok := message.PropertyGet(props, key); string(got) != want || ok != (want != "") {
			t.Errorf("PropertyGet(%q) = %q, %v, want %q", key, got, ok, want)
		}
	}
}

func TestPropertyAppend(t *testing.T) {
	t.Parallel()
	if got := string(message.PropertyAppend([]byte("A\x011"), "B", "2")); got != "A\x011\x02B\x012\x02" {
		t.Errorf("after an open entry: %q", got)
	}
	if got := string(message.PropertyAppend(nil, "B", []byte("2"))); got != "B\x012\x02" {
		t.Errorf("to nothing: %q", got)
	}
}

func TestPropertyCopyWithout(t *testing.T) {
	t.Parallel()
	drop := func(name []byte) bool { return string(name) == "B" }
	got := string(message.PropertyCopyWithout(nil, []byte("A\x011\x02B\x012\x02junk\x02C\x013"), drop))
	if want := "A\x011\x02C\x013\x02"; got != want {
		t.Fatalf("got %q, want %q", got, want)
	}
}

func TestHasTimer(t *testing.T) {
	t.Parallel()
	for props, want := range map[string]bool{
		"": false, "DELAY\x013\x02": false, "TIMER_DELAY_SEC\x01\x02": false, "XTIMER_DELAY_MS\x011\x02": false,
		"A\x011\x02TIMER_DELAY_SEC\x015\x02": true, "TIMER_DELAY_MS\x015\x02": true, "TIMER_DELIVER_MS\x015": true,
	} {
		if got := message.HasTimer([]byte(props)); got != want {
			t.Errorf("HasTimer(%q) = %v", props, got)
		}
	}
}

// FuzzProperties: the functions agree with one another on any bytes.
func FuzzProperties(f *testing.F) {
	f.Add([]byte("KEYS\x01\x02TAGS\x01t\x02KEYS\x01k\x01l\x02UNIQ_KEY\x02UNIQ_KEY\x01u\x02KEYS2\x01x"), "KEYS", "v")
	f.Add([]byte("A\x011\x02B\x01x\x01y\x02\x02C\x01\x02D"), "A", "v")
	f.Fuzz(func(t *testing.T, props []byte, key, value string) {
		last := map[string]string{}
		message.PropertyEach(props, func(n, v []byte) { last[string(n)] = string(v) })
		if got, ok := message.PropertyGet(props, key); !strings.ContainsAny(key, "\x01\x02") && (string(got) != last[key] || ok != (last[key] != "")) {
			t.Fatalf("PropertyGet = %q, want %q", got, last[key])
		}
		keys := message.PropertyIndexKeys(props)
		if string(keys.UniqKey) != last["UNIQ_KEY"] || string(keys.Keys) != last["KEYS"] || string(keys.Tags) != last["TAGS"] {
			t.Fatalf("PropertyIndexKeys = %q, want those of %q", keys, last)
		}
		copied := message.PropertyCopyWithout(nil, props, func([]byte) bool { return false })
		if pairs(string(copied)) != pairs(string(props)) {
			t.Fatalf("the copy reads as %q", pairs(string(copied)))
		}
		if strings.ContainsAny(key, "\x01\x02") || strings.Contains(value, "\x02") || key == "" || value == "" {
			return
		}
		if got, ok := message.PropertyGet(message.PropertyAppend(props, key, value), key); !ok || string(got) != value {
			t.Fatalf("appended %q=%q to %q, got %q", key, value, props, got)
		}
	})
}
