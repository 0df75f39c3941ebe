package message_test

import (
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/wheelmq/wheelmq/message"
)

func TestPropertyIndexKeys(t *testing.T) {
	t.Parallel()
	props := []byte("UNIQ_KEY\x01old\x02KEYS\x01a b\x02x\x01y\x02broken\x02TAGS\x01T\x02UNIQ_KEY\x01id")
	got := message.PropertyIndexKeys(props)
	if string(got.UniqKey) != "id" || string(got.Keys) != "a b" || string(got.Tags) != "T" {
		t.Errorf("%q", got)
	}
	if got := message.PropertyIndexKeys([]byte("x\x01y\x02KEYS\x01\x02")); got.UniqKey != nil || got.Keys != nil || got.Tags != nil {
		t.Errorf("%q where there is nothing", got)
	}
}

func TestNextKey(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]string{
		"": "", "   ": "", "a": "a", "a b": "a|b", "  a\tx   b c ": "a\tx|b|c", "键 k": "键|k",
	} {
		var got []string
		for key, rest := message.NextKey([]byte(keys)); len(key) > 0; key, rest = message.NextKey(rest) {
			got = append(got, string(key))
		}
		if text := strings.Join(got, "|"); text != want {
			t.Errorf("%q: %q, want %q", keys, text, want)
		}
	}
}

// TestJavaHash_OfPieces hashes texts of many lengths whole and in two pieces, and by the rule.
func TestJavaHash_OfPieces(t *testing.T) {
	t.Parallel()
	text := []rune("Orders#7F0000010001000000000000键ключ🔑0000AAAA#polygenelubricants-and-more")
	for n := range len(text) + 1 {
		var want int32
		for _, c := range utf16.Encode(text[:n]) {
			want = 31*want + int32(c)
		}
		for cut := range n + 1 {
			h := message.JavaHash(0, []byte(string(text[:cut])))
			if got := message.JavaHash(h, []byte(string(text[cut:n]))); got != want {
				t.Fatalf("%q and %q: %d, want %d", string(text[:cut]), string(text[cut:n]), got, want)
			}
		}
	}
}
