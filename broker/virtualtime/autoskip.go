package virtualtime

import (
	"context"
	"math"
)

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
	var m Moved
	defer e.note(&m, &err)()
	if work, err := e.opts.InFlight.Busy(ctx); err != nil || len(work) > 0 {
		return true, err
	}
	next, err := e.settle(ctx)
	if err != nil || next == math.MaxInt64 {
		return false, err
	}
	next, err = e.goTo(ctx, next, &m)
	return err == nil && next < math.MaxInt64, err
}
