package clock_test

import (
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/internal/await"
)

func TestRealTimer_NeverFiresBeforeItsInstant(t *testing.T) {
	t.Parallel()
	var c clock.Real
	timer := c.NewTimer()
	defer timer.Disarm()
	for i := range 50 {
		at := c.NowMillis() + int64(i%4)
		timer.Arm(at)
		select {
		case <-timer.C():
		case <-time.After(await.Patience):
			t.Fatal("the timer did not fire")
		}
		if now := c.NowMillis(); now < at {
			t.Fatalf("fired at %d, before %d", now, at)
		}
	}
}

func TestVirtualTimer_FiresOnlyWhenTheClockIsMoved(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(1_000)
	timer := v.NewTimer()

	timer.Arm(1_500)
	if at, armed := v.Next(); !armed || at != 1_500 {
		t.Fatalf("Next() = %d, %v, want 1500, true", at, armed)
	}
	v.Set(1_499)
	if fired(timer) {
		t.Fatal("fired one millisecond early")
	}
	v.Set(1_500)
	if !fired(timer) {
		t.Fatal("did not fire at its instant")
	}

	timer.Arm(1_400)
	if !fired(timer) {
		t.Fatal("an instant in the past did not fire at once")
	}

	timer.Arm(1_600)
	timer.Disarm()
	v.Set(2_000)
	if fired(timer) {
		t.Fatal("fired after Disarm")
	}
}

func fired(timer clock.Timer) bool {
	select {
	case <-timer.C():
		return true
	default:
		return false
	}
}
