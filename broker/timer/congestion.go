package timer

import (
	"math"
	"math/rand/v2"
	"sync"

	"github.com/wheelmq/wheelmq/remoting"
)

// congestion bounds how many messages are due in one second. It counts what it admits itself, from
// the number that was pending when it first met a second: a burst is counted before it is in the
// wheel.
type congestion struct {
	countAt func(outMs int64) int64 // may be nil
	random  func() float64          // in [0, 1)

	mu      sync.Mutex
	seconds map[int64]int64 // messages by second, from now on
	swept   int64           // the second up to which past ones are forgotten
}

func randomShare() float64 { return rand.Float64() }

// sweepEvery is how many seconds' counts are kept beyond those that are not past.
const sweepEvery = 60

// admit counts a message and refuses it, past the limit, with a probability that grows to one at
// twice the limit. The real broker's default limits nothing, and then nothing is counted.
func (c *congestion) admit(limit, outMs, nowMs int64) error {
	if limit >= math.MaxInt32 {
		return nil
	}
	second := outMs / 1000
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sweep(nowMs / 1000)
	n, known := c.seconds[second]
	if !known && c.countAt != nil {
		n = c.countAt(outMs)
	}
	if over := n - limit; over >= 0 && c.random() < float64(over)/float64(limit) {
		return remoting.Errorf(remoting.SystemError, "timer message is under flow control, max num limit is %d or the current value is greater than %d and less than %d, trigger random flow control",
			2*limit, limit, 2*limit)
	}
	if c.seconds == nil {
		c.seconds = make(map[int64]int64)
	}
	c.seconds[second] = n + 1
	return nil
}

// sweep forgets seconds that are past.
func (c *congestion) sweep(now int64) {
	if now < c.swept+sweepEvery {
		return
	}
	c.swept = now
	for second := range c.seconds {
		if second < now {
			delete(c.seconds, second)
		}
	}
}
