package wheelmq

import (
	"fmt"
	"time"

	"github.com/wheelmq/wheelmq/clock"
)

// TestConfig is what makes an instance one for tests.
type TestConfig struct {
	// Memory keeps the store in memory instead of storePathRootDir.
	Memory bool
	// VirtualClock makes message time move only when told, from VirtualStart on; the zero time
	// is the machine's time at the start.
	VirtualClock bool
	VirtualStart time.Time
	// ExpireFiles lets log files go by their age, in message time, under a virtual clock too.
	ExpireFiles bool
	// API serves /test/ on the HTTP port: to this machine only, or with a Token to whoever has
	// it.
	API   bool
	Token string
}

// check refuses a beginning that the log cannot hold: its times are not negative.
func (c *TestConfig) check() error {
	if c != nil && c.VirtualClock && c.start() < 0 {
		return fmt.Errorf("wheelmq: a virtual clock cannot begin in %d: want 1970 or later", c.VirtualStart.Year())
	}
	return nil
}

// start is where a virtual clock begins, ms.
func (c *TestConfig) start() int64 {
	if c.VirtualStart.IsZero() {
		return clock.Real{}.NowMillis()
	}
	return c.VirtualStart.UnixMilli()
}
