package wheelmq

import "time"

// TestConfig is what makes an instance one for tests.
type TestConfig struct {
	// Memory keeps the store in memory instead of storePathRootDir.
	Memory bool
	// VirtualClock makes message time move only when told, from VirtualStart on; the zero time
	// is the machine's time at the start.
	VirtualClock bool
	VirtualStart time.Time
	// API serves /test/ on the HTTP port: to this machine only, or with a Token to whoever has
	// it.
	API   bool
	Token string
}
