package timer

import (
	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker/redeliver"
)

// blockedAfter is how often something is refused in a row before health tells.
const blockedAfter = 3

// wait is a pause after refusals, longer each time.
type wait struct {
	refusals int   // in a row
	retryAt  int64 // ms of message time, nothing is tried before
	reason   string
}

func (w *wait) refused(now int64, err error) {
	w.refusals++
	w.retryAt = now + redeliver.Backoff(w.refusals)
	w.reason = err.Error()
}

func (w *wait) ended() { *w = wait{} }

// blocked is why nothing has worked for a while, or "".
func (w *wait) blocked() string {
	if w.refusals > blockedAfter {
		return w.reason
	}
	return ""
}

// level is how loudly to tell of the last refusal: once.
func (w *wait) level() logrus.Level {
	if w.refusals == blockedAfter+1 {
		return logrus.WarnLevel
	}
	return logrus.DebugLevel
}
