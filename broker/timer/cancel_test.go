package timer_test

import (
	"math"
	"testing"
)

// TestService_Cancel removes messages before they are taken in, before they are loaded, when they
// are loaded, and when their second has begun, in both dialects of the key and whichever comes first.
func TestService_Cancel(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		target, cancel property // when they are due
		before         bool     // the cancel is sent first
		topic          string   // of the cancel
		key            string   // that it names
		at             int64    // when the second one is sent, ms from the start
		left           int64
	}{
		"by its key":                 {at(startMs + 60_500), at(startMs + 60_001), false, "T", "K", 0, 0},
		"by topic and key":           {at(startMs + 60_500), at(startMs + 60_001), false, "T", "T+K", 0, 0},
		"of a relative one":          {delay(60_500), at(startMs + 60_001), false, "T", "K", 0, 0},
		"at the border":              {at(startMs + 60_000), at(startMs + 59_001), false, "T", "K", 0, 0},
		"before its target":          {at(startMs + 60_500), at(startMs + 60_001), true, "T", "K", 0, 0},
		"when it is loaded":          {at(startMs + 60_500), at(startMs + 60_001), false, "T", "K", 58_000, 0},
		"in its second":              {at(startMs + 60_500), at(startMs + 60_450), false, "T", "K", 60_400, 0},
		"target last, in its second": {at(startMs + 60_500), at(startMs + 60_450), true, "T", "K", 60_400, 0},
		"another key":                {at(startMs + 60_500), at(startMs + 60_001), false, "T", "L", 0, 1},
		"another topic":              {at(startMs + 60_500), at(startMs + 60_001), false, "U", "K", 0, 1},
		"another topic in the key":   {at(startMs + 60_500), at(startMs + 60_001), false, "U", "T+K", 0, 1},
		"another second":             {at(startMs + 60_500), at(startMs + 61_001), false, "T", "K", 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			defer l.close()
			message := func() { l.send("T", "x", c.target, key("K")) }
			cancel := func() { l.send(c.topic, "0", c.cancel, cancels(c.key)) }
			if c.before {
				message, cancel = cancel, message
			}
			message()
			l.settle()
			l.clock.Set(startMs + c.at)
			l.settle()
			cancel()
			if next, n := l.service.Due(); n != c.left || (next < math.MaxInt64) != (n > 0) {
				t.Errorf("%d messages pend, the next at +%d", n, next-startMs)
			}
			for next := l.settle(); next < math.MaxInt64; next = l.settle() {
				l.clock.Set(next)
			}
			if l.count("T") != c.left || l.count("U") != 0 {
				t.Errorf("T has %d messages, U has %d", l.count("T"), l.count("U"))
			}
			if n := l.service.Count(); c.left == 0 && c.at > 60_000 && n > 0 {
				t.Errorf("%d messages still count", n)
			}
		})
	}
}

// TestService_Cancel_Storm removes a thousand messages of a second that is loaded, and nothing else.
func TestService_Cancel_Storm(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for i := range 1000 {
		l.send("T", "x", at(startMs+2500), key(string(rune('a'+i%26))+string(rune('0'+i/26))))
	}
	l.send("T", "left", at(startMs+2500), key("left"))
	l.settle()
	for i := range 1000 {
		l.send("T", "0", at(startMs+2001), cancels(string(rune('a'+i%26))+string(rune('0'+i/26))))
	}
	l.close()
	l.open()
	defer l.close()
	l.clock.Set(startMs + 2500)
	l.settle()
	if got := l.bodies("T"); got != "left+2500 " {
		t.Errorf("delivered %s", got)
	}
}
