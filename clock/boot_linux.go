package clock

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// bootClock reads the time since the machine's boot, suspends included, and names the boot;
// "" when that is unknown, and then the time may be anything monotonic.
func bootClock(mono func() int64) (clock func() int64, id string) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return mono, ""
	}
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return mono, ""
	}
	return func() int64 {
		var now unix.Timespec
		// It worked the first time: nothing is left to fail.
		_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &now)
		return now.Nano()
	}, strings.TrimSpace(string(b))
}
