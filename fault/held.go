package fault

import (
	"sync"
	"time"

	"github.com/wheelmq/wheelmq/clock"
)

// held are the answers that are held back, each by a goroutine: they are few.
type held struct {
	wire clock.Clock
	stop chan struct{}

	mu     sync.Mutex // guards closed, and wg against the end
	closed bool
	wg     sync.WaitGroup
}

// after runs send when the delay is over, unless the server stops before.
func (h *held) after(delay time.Duration, send func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	due := clock.Ceil(h.wire) + delay.Milliseconds()
	h.wg.Go(func() {
		timer := h.wire.NewTimer()
		defer timer.Disarm()
		timer.Arm(due)
		select {
		case <-timer.C():
			send()
		case <-h.stop:
		}
	})
}

func (h *held) close() {
	h.mu.Lock()
	if !h.closed {
		h.closed = true
		close(h.stop)
	}
	h.mu.Unlock()
	h.wg.Wait()
}
