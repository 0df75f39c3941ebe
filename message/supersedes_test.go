package message_test

import (
	"testing"

	"github.com/wheelmq/wheelmq/message"
)

func TestSupersedes_Text(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]message.Supersedes{
		"1800000000:4096:1024:2": {Second: 1_800_000_000, LogOffset: 4096, Root: 1024, Generation: 2},
		"w1:0:0:0":               {Wall: true, Second: 1},
	} {
		got, ok := message.ParseSupersedes([]byte(text))
		if !ok || got != want || string(want.AppendTo(nil)) != text {
			t.Errorf("%s: %+v %v, written %s", text, got, ok, want.AppendTo(nil))
		}
	}
	for _, text := range []string{"", "w", "1", "1:2:3", "1:2:3:4:5", "a:2:3:4", "1:-2:3:4", "1:2:3:99999999999999999999"} {
		if got, ok := message.ParseSupersedes([]byte(text)); ok {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
}
