package virtualtime

import (
	"context"
	"errors"
	"math"
)

// keepEveryMs is how often a clock that goes by itself notes where it stands, ms of real time.
const keepEveryMs = 100

// SetAutoSkip lets the clock go to the next due instant by itself whenever consumers have
// finished with what they were given, or ends that.
func (e *Engine) SetAutoSkip(on bool) {
	e.autoSkip.Store(on)
	e.Kick()
}

// AutoSkip tells whether the clock goes by itself.
func (e *Engine) AutoSkip() bool { return e.autoSkip.Load() }

// skip is the goroutine of AutoSkip.
func (e *Engine) skip() {
	for e.ctx.Err() == nil {
		if e.autoSkip.Load() {
			pending, err := e.skipOnce(e.ctx)
			if err != nil && e.ctx.Err() == nil {
				e.opts.Log.WithError(err).Warn("the virtual clock does not go on by itself")
			}
			if pending {
				continue
			}
		}
		select {
		case <-e.kick:
		case <-e.ctx.Done():
		}
	}
}

// skipOnce goes to the next due instant once consumers have finished. It returns whether there is
// another, or was one that it could not go to. Only while it turns the clock it keeps others from
// it.
func (e *Engine) skipOnce(ctx context.Context) (pending bool, err error) {
	if next, err := e.settle(ctx); err != nil || next == math.MaxInt64 {
		return false, err
	}
	off, err := e.rest(ctx, func() (bool, error) { return !e.autoSkip.Load(), nil })
	if off || err != nil {
		return !off, err
	}
	ctx, end, err := e.begin(ctx)
	if err != nil {
		return false, err
	}
	defer end()
	if work, err := e.opts.InFlight.Busy(ctx); err != nil || len(work) > 0 {
		return true, err
	}
	next, err := e.settle(ctx)
	if err != nil || next == math.MaxInt64 {
		return false, err
	}
	var m Moved
	next, err = e.goTo(ctx, next, &m)
	pending = err == nil && next < math.MaxInt64
	// Steps may follow one another every 0.1 ms: not each is worth a sync of the disk.
	if now := e.opts.Wire.NowMillis(); !pending || now >= e.keepAt {
		e.keepAt = now + keepEveryMs
		err = errors.Join(err, e.keep())
	}
	return pending, err
}
