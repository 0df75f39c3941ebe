package main

import (
	"context"
	"time"

	"github.com/wheelmq/wheelmq/clock"
)

// pause waits, less when ctx ends before; it tells whether ctx still goes on.
func pause(ctx context.Context, d time.Duration) bool {
	timer := clock.Real{}.NewTimer()
	timer.Arm(clock.Real{}.NowMillis() + d.Milliseconds())
	defer timer.Disarm()
	select {
	case <-timer.C():
		return true
	case <-ctx.Done():
		return false
	}
}
