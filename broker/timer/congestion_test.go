package timer

import (
	"testing"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/message"
)

// TestCongestion admits up to the limit without asking chance, then ever fewer, and none at twice
// the limit.
func TestCongestion(t *testing.T) {
	t.Parallel()
	pending := map[int64]int64{1_800_000_010_000: 3}
	a := admission(t, func(o *AdmissionOptions) {
		o.CongestNum = 4
		o.CountAt = func(out int64) int64 { return pending[out] }
	})
	share := 0.0
	a.congestion.random = func() float64 { return share }
	send := func(ahead int64) string {
		return outcome(t, a, &message.Record{Topic: "T", Properties: properties("TIMER_DELIVER_MS", nowMs+ahead)})
	}
	admitted := func(ahead int64, tries int) (n int) {
		for range tries {
			if send(ahead) != "code 1" {
				n++
			}
		}
		return n
	}
	if n := admitted(5000, 10); n != 5 {
		t.Errorf("%d admitted to an empty second at the worst luck, want 5: the limit and the one at it", n)
	}
	if n := admitted(10_000, 10); n != 2 {
		t.Errorf("%d admitted where 3 waited before, want 2", n)
	}
	share = 0.999
	if n := admitted(15_000, 20); n != 8 {
		t.Errorf("%d admitted at the best luck, want twice the limit", n)
	}
	cancel := &message.Record{Topic: "T", Properties: properties("TIMER_DELIVER_MS", nowMs+15_000, "TIMER_DEL_UNIQKEY", "K")}
	if got := outcome(t, a, cancel); got == "code 1" {
		t.Error("a cancel is refused since its second is full")
	}
	a.opts.Store.(*clock.Virtual).Set(nowMs + 120_000)
	send(200_000)
	if n := len(a.congestion.seconds); n != 1 {
		t.Errorf("%d seconds are counted when all but one are past", n)
	}
}

func TestCongestion_NoLimitCountsNothing(t *testing.T) {
	t.Parallel()
	a := admission(t, nil)
	for range 10 {
		outcome(t, a, &message.Record{Topic: "T", Properties: properties("TIMER_DELAY_SEC", 5)})
	}
	if a.congestion.seconds != nil {
		t.Error("seconds are counted without a limit")
	}
}
