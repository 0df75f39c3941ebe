//go:build !linux

package clock

// bootClock knows neither suspends nor boots here.
func bootClock(mono func() int64) (clock func() int64, id string) { return mono, "" }
