package remoting

import "time"

// Plan is what a step before the handler has decided about the answer of its exchange. It goes
// with the answer, also with one that a Pending sends. Ordinary servers make none.
type Plan struct {
	// Decide, when not nil, is asked once when the answer is there, and may change it and what
	// follows here. OnReply sees it then, once, whatever becomes of it. Both run for oneway
	// requests too, which get no answer, and must not block.
	Decide, OnReply func(*Reply)

	Rule  string        // who has decided, for logs
	Drop  bool          // no answer
	Close bool          // the connection is closed instead of an answer
	Delay time.Duration // what the answer is held back, in real time, by After
	// After runs send once the delay is over, or never when the server stops. It must not block.
	After func(delay time.Duration, send func())
}

// answer does with an answer as is planned, and tells whether it has taken it over, parts and
// release included: the caller sends nothing then.
func (p *Plan) answer(conn Conn, opaque int32, oneway bool, r *Reply) (taken bool) {
	if p.Decide != nil {
		p.Decide(r)
	}
	if p.OnReply != nil {
		p.OnReply(r)
	}
	switch {
	case p.Close:
		r.release()
		conn.Close("closed by rule " + p.Rule)
		return true
	case p.Drop:
		r.release()
		return true
	case p.Delay > 0 && p.After != nil && !oneway:
		// A copy: the parts are not kept that long.
		frame := AppendReplyHead(nil, opaque, r)
		for _, part := range r.Parts {
			frame = append(frame, part...)
		}
		r.release()
		// A connection that is gone by then needs no answer.
		p.After(p.Delay, func() { _ = conn.Send(frame) })
		return true
	}
	return false
}

// release gives the parts back.
func (r *Reply) release() {
	r.Parts = r.Parts[:0]
	if release := r.Release; release != nil {
		r.Release = nil
		release()
	}
}
