package admin

import (
	"context"

	"github.com/wheelmq/wheelmq/clock"
)

// restMs is how long a broker that does not answer is left alone.
const restMs = 500

// rest tells whether ctx still goes on after a while.
func (c *Client) rest(ctx context.Context) bool {
	timer := clock.Real{}.NewTimer()
	timer.Arm(clock.Real{}.NowMillis() + restMs)
	defer timer.Disarm()
	select {
	case <-timer.C():
		return true
	case <-ctx.Done():
		return false
	}
}
