package redeliver

import (
	"errors"

	"github.com/wheelmq/wheelmq/remoting"
)

const (
	firstBackoff = 100    // ms
	maxBackoff   = 10_000 // ms
)

// Permanent tells whether trying again to store a refused copy is of no use.
func Permanent(err error) bool {
	var refusal *remoting.Error
	return errors.As(err, &refusal) && refusal.Code == remoting.MessageIllegal
}

// Backoff is how long to wait after so many refusals in a row, ms: 100, twice as long each time,
// at most 10,000.
func Backoff(refusals int) int64 {
	return min(int64(firstBackoff)<<min(max(refusals, 1)-1, 10), maxBackoff)
}
