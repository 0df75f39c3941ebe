package cases

import (
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/wire"
)

// waits fails the test unless the answer is that of a message that waits for an instant. It is false when the
// instant, less the second that RocketMQ rounds by, has passed: then the answer says nothing.
func waits(t *testing.T, what string, answer *wire.Frame, at time.Time) bool {
	t.Helper()
	if time.Until(at) < time.Second {
		return false
	}
	mustWait(t, what, answer)
	return true
}
