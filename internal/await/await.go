// Package await lets tests wait for what another goroutine brings about.
package await

import (
	"context"
	"time"
)

// Patience is how long a test waits before it fails. It is for a machine that has much else to do, and far
// above what anything takes that works.
const Patience = 2 * time.Minute

// longest is the time between two looks at a condition that is long in coming.
const longest = time.Millisecond

// Reporter is what the tests of package testing and of rapid have in common.
type Reporter interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Until waits until cond holds, or fails the test after Patience with what did not happen.
func Until(t Reporter, what string, cond func() bool) {
	t.Helper()
	step := 20 * time.Microsecond
	for end := time.Now().Add(Patience); !cond(); step = min(2*step, longest) {
		if time.Now().After(end) {
			t.Fatalf("waited %v in vain: %s", Patience, what)
		}
		time.Sleep(step)
	}
}

// Context ends after Patience.
func Context() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), Patience)
}
