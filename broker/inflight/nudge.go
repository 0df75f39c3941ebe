package inflight

import (
	"context"

	"github.com/wheelmq/wheelmq/clock"
)

// Those who are behind are asked again soon and then less often, ms: most handlers take a
// millisecond.
const (
	firstNudgeMs = 1
	lastNudgeMs  = 20
	// answerMs is for how long the pull after a nudge is waited for, ms. One that comes later
	// counts in the next look.
	answerMs = 20
)

// pace says when a place is to be nudged again.
type pace struct {
	at   int64 // the instant, ms of the wire clock
	wait int64 // until the one after it
	done int64 // how far the group was at the last nudge
	next int64 // what it had been given
}

// due tells whether it is time, and then sets the next one. Progress makes it soon again.
func (p *pace) due(now, done, next int64) bool {
	if done != p.done || next != p.next {
		p.at, p.wait, p.done, p.next = now, firstNudgeMs, done, next
	}
	if now < p.at {
		return false
	}
	p.at, p.wait = now+p.wait, min(2*p.wait, lastNudgeMs)
	return true
}

// nudge hears the clients of those who are behind: it returns when each has pulled again, which
// says how far it is, or has not for a while.
func (t *Tracker) nudge(ctx context.Context, work []Work) {
	now := t.opts.Wire.NowMillis()
	before := make(map[Place]int64)
	for _, w := range work {
		if w.broadcast || w.Popped > 0 || before[w.Place] > 0 {
			continue
		}
		t.mu.Lock()
		p := t.places[w.Place]
		due := p != nil && p.nudge.due(now, w.Done, p.next)
		asks := int64(0)
		if due {
			asks = p.asks
		}
		t.mu.Unlock()
		if due && t.opts.Polls.Nudge(w.Topic, w.QueueID, w.Group) > 0 {
			before[w.Place] = asks
		}
	}
	if len(before) > 0 {
		t.await(ctx, now+answerMs, func() bool { return t.allAsked(before) })
	}
}

// allAsked tells whether every place has seen more pulls than before.
func (t *Tracker) allAsked(before map[Place]int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for at, asks := range before {
		if p := t.places[at]; p != nil && p.asks == asks {
			return false
		}
	}
	return true
}

// await waits until something holds, at most until an instant of the wire clock.
func (t *Tracker) await(ctx context.Context, until int64, holds func() bool) {
	var timer clock.Timer
	for now := t.opts.Wire.NowMillis(); !holds() && now < until; now = t.opts.Wire.NowMillis() {
		if timer == nil {
			timer = t.opts.Wire.NewTimer()
			defer timer.Disarm()
		}
		timer.Arm(now + 1)
		select {
		case <-timer.C():
		case <-t.pulls:
		case <-ctx.Done():
			return
		}
	}
}
