package cases

import (
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/wire"
)

// withLead runs what must be over within a time, such as the sends before their common instant. do gets that
// time and tells whether it came through; one that a slow machine made late is run again with three times
// the time, so it makes its own topics. A try that is in time fails or passes by itself.
func withLead(t *testing.T, lead time.Duration, do func(lead time.Duration) (inTime bool)) {
	t.Helper()
	const tries = 4
	for range tries {
		if do(lead) {
			return
		}
		t.Logf("%v were too short on this machine", lead)
		lead *= 3
	}
	t.Fatalf("%v were too short %d times", lead/3, tries)
}

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
