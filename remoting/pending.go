package remoting

import "sync"

// Pending is an answer that is sent after its handler has returned: a long poll, a
// send that waits for a flush, a relayed call. Fill Reply and call Send exactly once.
type Pending struct {
	Reply  Reply
	conn   Conn
	opaque int32
	oneway bool
	plan   *Plan

	watched watched
}

var pendings = sync.Pool{New: func() any { return new(Pending) }}

func newPending(ex *Exchange) *Pending {
	p := pendings.Get().(*Pending)
	p.conn, p.opaque, p.oneway, p.plan, p.watched = ex.Conn, ex.Req.Opaque, ex.Req.IsOneway(), ex.plan, ex.watched
	if c, ok := p.conn.(awaiting); ok {
		c.Await(1)
	}
	return p
}

// awaiting is a Conn that wants to know how many of its requests wait for their answers, so that it
// does not end before.
type awaiting interface{ Await(more int64) }

// Conn is the connection the request came from.
func (p *Pending) Conn() Conn { return p.conn }

// Send writes the reply and gives p back to its pool: p must not be used afterwards. A
// closed connection is not an error of the caller: the reply is dropped and its parts
// released.
func (p *Pending) Send() {
	p.tell()
	switch {
	case p.plan != nil && p.plan.answer(p.conn, p.opaque, p.oneway, &p.Reply):
	case p.oneway || p.conn.Closed():
		if p.Reply.Release != nil {
			p.Reply.Release()
		}
	case len(p.Reply.Parts) == 0 && p.Reply.Release == nil:
		// The connection reports and closes itself when it cannot take more.
		_ = p.conn.Send(AppendReplyHead(nil, p.opaque, &p.Reply))
	default:
		parts := append([][]byte(nil), p.Reply.Parts...)
		_ = p.conn.SendParts(AppendReplyHead(nil, p.opaque, &p.Reply), parts, p.Reply.Release)
	}
	if c, ok := p.conn.(awaiting); ok {
		c.Await(-1)
	}
	p.Reply.Reset()
	p.conn, p.plan, p.watched = nil, nil, watched{}
	pendings.Put(p)
}

// tell tells the observer, if there is one.
func (p *Pending) tell() {
	if p.watched.by == nil {
		return
	}
	outcome := Answered
	switch {
	case p.oneway:
		outcome = Oneway
	case p.conn.Closed():
		outcome = Cancelled
	}
	p.watched.tell(p.Reply.Code, p.watched.by.NowMillis(), true, outcome)
}
