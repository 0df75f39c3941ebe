package virtualtime

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/wheelmq/wheelmq/broker/inflight"
	"github.com/wheelmq/wheelmq/clock"
)

// Clients are asked again soon and then less often, ms of real time: most handlers take a
// millisecond.
const (
	firstLookMs = 1
	lastLookMs  = 20
)

// never is a condition that time alone does not bring.
func never() (bool, error) { return false, nil }

// pace paces a wait for others.
type pace struct {
	e     *Engine
	timer clock.Timer
	wait  int64 // until the next look, ms
	since int64 // of the last progress, ms of real time
}

func (e *Engine) pace() *pace {
	return &pace{e: e, timer: e.opts.Wire.NewTimer(), wait: firstLookMs, since: e.opts.Wire.NowMillis()}
}

// progress tells that something has changed.
func (p *pace) progress() { p.wait, p.since = firstLookMs, p.e.opts.Wire.NowMillis() }

// spent tells that nothing has changed for as long as patience lasts.
func (p *pace) spent() bool {
	return p.e.opts.Wire.NowMillis()-p.since >= p.e.opts.Patience.Milliseconds()
}

// next waits until it is worth to look again, and fails when the context ends.
func (p *pace) next(ctx context.Context) error {
	p.timer.Arm(p.e.opts.Wire.NowMillis() + p.wait)
	p.wait = min(2*p.wait, lastLookMs)
	select {
	case <-p.timer.C():
	case <-p.e.kick:
	case <-p.e.opts.InFlight.Changed():
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// rest waits until consumers have finished with what they were given, or the condition holds,
// which it tells.
func (e *Engine) rest(ctx context.Context, cond Condition) (holds bool, err error) {
	p := e.pace()
	defer p.timer.Disarm()
	seen := ""
	for {
		if holds, err := cond(); holds || err != nil {
			return holds, err
		}
		work, err := e.opts.InFlight.Busy(ctx)
		if err == nil && len(work) == 0 {
			// What was finished last may be what the condition waits for.
			return cond()
		}
		if now := describe(work); now != seen {
			seen = now
			p.progress()
		}
		if err != nil || p.spent() {
			return false, e.gaveUp(ctx, errors.Join(errors.New("consumers are at work: "+seen), err))
		}
		if err := p.next(ctx); err != nil {
			return false, e.gaveUp(ctx, errors.New("consumers are at work: "+seen))
		}
	}
}

// wait waits until the condition holds, which it tells, or something is pending, at next.
func (e *Engine) wait(ctx context.Context, cond Condition) (holds bool, next int64, err error) {
	p := e.pace()
	defer p.timer.Disarm()
	for {
		if next, err = e.settle(ctx); err != nil || next < math.MaxInt64 {
			return false, next, err
		}
		if holds, err := cond(); holds || err != nil {
			return holds, 0, err
		}
		if p.spent() {
			return false, 0, fmt.Errorf("%w and nobody has done anything for %v: %w", ErrNothingPending, e.opts.Patience, ErrLimit)
		}
		if p.next(ctx) != nil {
			return false, 0, e.gaveUp(ctx, ErrNothingPending)
		}
	}
}

// describe names the first few of what is at work.
func describe(work []inflight.Work) string {
	const named = 3
	var b strings.Builder
	for i, w := range work {
		if i == named {
			fmt.Fprintf(&b, "; and %d more", len(work)-named)
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(w.String())
	}
	return b.String()
}
