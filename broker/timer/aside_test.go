package timer_test

import (
	"fmt"
	"math"
	"sync/atomic"
	"testing"

	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/store/region"
)

// TestService_FarWithoutRoomHoldsNobodyUp has a full disk take no far messages: near ones that came behind
// them are delivered at their instants, and the far ones when there is room again, over a restart too.
func TestService_FarWithoutRoomHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprint("restart ", restart), func(t *testing.T) {
			t.Parallel()
			l := newLabIn(t)
			full := new(atomic.Bool)
			l.files = func(fs region.FS) region.FS { return fullDisk{fs, full} }
			l.open()
			l.send("T", "before", at(startMs+99*hour), key("K0"))
			l.settle()
			full.Store(true)
			for i := range 3 {
				l.send("T", fmt.Sprint(i), at(startMs+100*hour+int64(i)), key(fmt.Sprint("F", i)))
				l.send("Near", fmt.Sprint(i), delay(1000+int64(i)))
				l.send("T", "0", at(startMs+100*hour+1), cancels(fmt.Sprint("F", 1)))
			}
			for next := l.settle(); l.count("Near") < 3 && next < startMs+5000; next = l.settle() {
				l.clock.Set(next)
			}
			if got := l.bodies("Near"); got != "0+1000 1+1001 2+1002 " {
				t.Fatalf("while the disk is full, delivered %s", got)
			}
			if n := l.service.Count(); n != 7 {
				t.Errorf("%d pend, want 4 messages and 3 cancels that are not taken in", n)
			}
			for range 6 {
				next := l.settle()
				if next > startMs+90*hour {
					t.Fatalf("settled until %d, want the instant of another try", next)
				}
				l.clock.Set(next)
			}
			l.awaitHealth(health.Degraded, "are due in hours or days wait to be taken in")
			if restart {
				l.close()
				l.open()
			}
			full.Store(false)
			for next := l.settle(); next < math.MaxInt64; next = l.settle() {
				l.clock.Set(next)
			}
			want := fmt.Sprintf("before+%d 0+%d 2+%d ", 99*hour, 100*hour, 100*hour+2)
			if l.bodies("T") != want || l.count("Near") != 3 {
				t.Errorf("delivered %s, want %s; near: %s", l.bodies("T"), want, l.bodies("Near"))
			}
			l.close()
		})
	}
}
