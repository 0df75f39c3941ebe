package timer

import "sync/atomic"

// rates are how many messages come and go, between two looks.
type rates struct {
	state     *state
	delivered *atomic.Int64

	takenIn, due float64 // per second
	offset, out  int64   // queue offset and deliveries at the last look
	at           int64   // of the last look, ms of the wire's clock
}

// look takes the rates since the last time; now is ms of the wire's clock.
func (r *rates) look(now int64) {
	offset, out := r.state.queueOffset, r.delivered.Load()
	if passed := float64(now-r.at) / 1000; passed > 0 {
		r.takenIn, r.due = float64(max(0, offset-r.offset))/passed, float64(out-r.out)/passed
	}
	r.offset, r.out, r.at = offset, out, now
}
