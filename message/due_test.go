package message

import "testing"

func TestDue(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		want Due
		ok   bool
	}{
		{"1800000000123", Due{Ms: 1800000000123}, true},
		{"w1800000000123", Due{Ms: 1800000000123, Wall: true}, true},
		{"", Due{}, false},
		{"w", Due{}, false},
		{"ww1", Due{}, false},
		{"1w", Due{}, false},
	} {
		got, ok := ParseDue([]byte(tt.text))
		if got != tt.want || ok != tt.ok {
			t.Errorf("%q is %+v, %v, want %+v, %v", tt.text, got, ok, tt.want, tt.ok)
		}
		if ok && string(got.AppendTo(nil)) != tt.text {
			t.Errorf("%q is written %q", tt.text, got.AppendTo(nil))
		}
	}
	if d, ok := DueOf(PropertyAppend(nil, PropertyDueMs, "w7")); !ok || d != (Due{7, true}) {
		t.Errorf("the properties carry %+v, %v", d, ok)
	}
	if _, ok := DueOf(PropertyAppend(nil, PropertyTags, "A")); ok {
		t.Error("properties without a due instant have one")
	}
}

func TestTimerOut(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ due, precision, want int64 }{
		{1796002820000, 1000, 1796002819000}, // as the real broker stored it
		{1796002820001, 1000, 1796002820000},
		{1796002820999, 1000, 1796002820000},
		{1796002820100, 100, 1796002820000},
		{1796002820101, 100, 1796002820100},
		{1796002820101, 1, 1796002820100},
	} {
		out := TimerOut(tt.due, tt.precision)
		if out != tt.want {
			t.Errorf("due %d by %d: %d, want %d", tt.due, tt.precision, out, tt.want)
		}
		if again := TimerOut(out+1, tt.precision); again != out {
			t.Errorf("due %d by %d: a recall a millisecond after %d falls to %d", tt.due, tt.precision, out, again)
		}
	}
}
