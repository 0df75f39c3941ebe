package server

import (
	"runtime/debug"
	"slices"

	"github.com/panjf2000/gnet/v2"
	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/remoting"
)

// outFlush is the size at which replies of one read batch are written before its end.
const outFlush = 256 << 10

// copiedParts is the size up to which the parts of a reply are copied, to be written together with the
// replies beside it: a write of its own costs more than to copy so much.
const copiedParts = 4 << 10

// tlsHandshake is the first byte of a TLS connection.
const tlsHandshake = 0x16

// loop is the memory of one event loop, reused for every request it serves.
type loop struct {
	ex     remoting.Exchange
	out    []byte // replies of the current read batch
	vector [][]byte

	received int64             // when the current read batch came, ms; 0 without an observer
	served   []remoting.Served // requests of the batch, told of when their replies are written
}

// OnTraffic implements gnet.EventHandler.
func (e *engine) OnTraffic(raw gnet.Conn) (action gnet.Action) {
	c, ok := raw.Context().(*conn)
	if !ok || c.dead.Load() {
		_, _ = raw.Discard(-1)
		return gnet.None
	}
	defer func() {
		if p := recover(); p != nil {
			e.s.opts.Log.WithFields(logrus.Fields{"remote": c.remote.String(), "panic": p, "stack": string(debug.Stack())}).
				Error("panic on the event loop")
			// What was appended for this connection must not reach the next one.
			c.loop.out = c.loop.out[:0]
			c.close(causeServer, "panic")
			action = gnet.Close
		}
	}()
	c.touch()
	if e.s.opts.Observer != nil {
		c.loop.received = e.s.opts.Observer.NowMillis()
		defer e.s.tell(c.loop)
	}
	// Peek joins gnet's buffers, so a large frame is looked at only once, when complete.
	if raw.InboundBuffered() < c.need {
		return gnet.None
	}
	in, err := raw.Peek(-1)
	if err != nil || len(in) == 0 {
		return gnet.None
	}
	used, action := e.s.serveFrames(c, in)
	c.flushReplies()
	if action == gnet.None && used > 0 && !c.dead.Load() {
		_, _ = raw.Discard(used)
	}
	return action
}

// tell tells the observer of the requests of a read batch.
func (s *Server) tell(l *loop) {
	if len(l.served) == 0 {
		return
	}
	now := s.opts.Observer.NowMillis()
	for i := range l.served {
		l.served[i].Tell(now)
	}
	l.served = l.served[:0]
}

// serveFrames serves the complete frames of in and returns their length.
func (s *Server) serveFrames(c *conn, in []byte) (used int, action gnet.Action) {
	frames := 0
	defer func() {
		s.metrics.frames.Add(float64(frames))
		s.metrics.bytesIn.Add(float64(used))
	}()
	if !c.started {
		c.started = true
		if in[0] == tlsHandshake {
			return 0, s.malformed(c, "TLS handshake on a port without TLS")
		}
	}
	for !c.dead.Load() {
		rest := in[used:]
		n, err := remoting.FrameLength(rest)
		switch {
		case err != nil:
			return used, s.malformed(c, err.Error())
		case n > s.opts.MaxFrame:
			return used, s.malformed(c, "frame too long")
		case n == 0:
			c.need = 4
			return used, gnet.None
		case n > len(rest):
			c.need = n
			return used, gnet.None
		}
		if err := s.serveFrame(c, rest[:n]); err != nil {
			return used, s.malformed(c, err.Error())
		}
		used += n
		frames++
	}
	return used, gnet.None
}

func (s *Server) malformed(c *conn, reason string) gnet.Action {
	s.opts.Log.WithFields(logrus.Fields{"remote": c.remote.String(), "reason": reason}).Warn("closing a connection that does not speak the protocol")
	c.close(causeMalformed, reason)
	return gnet.Close
}

func (s *Server) serveFrame(c *conn, frame []byte) error {
	ex := &c.loop.ex
	ex.Begin(c)
	if s.opts.Observer != nil {
		ex.Watch(s.opts.Observer, c.loop.received)
	}
	if err := remoting.Decode(frame, &ex.Req); err != nil {
		return err
	}
	if ex.Req.IsResponse() {
		s.respond(c, &ex.Req, frame)
		return nil
	}
	if s.stopping.Load() {
		s.refuse(c)
		return nil
	}
	class := s.opts.Router.Class(ex.Req.Code)
	if class == remoting.Inline {
		s.opts.Router.Serve(ex)
		c.loop.note(ex)
	} else if s.submit(c, class, frame) {
		return nil
	} else {
		s.metrics.busy.WithLabelValues(classNames[class]).Inc()
		s.turn(c, remoting.SystemBusy, busyRemark)
	}
	c.reply(ex)
	return nil
}

// turn answers the request of the loop without its handler.
func (s *Server) turn(c *conn, code int32, remark string) {
	ex := &c.loop.ex
	ex.Reply.Code, ex.Reply.Remark = code, remark
	s.opts.Router.Turned(ex)
	c.loop.note(ex)
}

// note keeps what the observer is to be told when the replies of the read batch are written.
func (l *loop) note(ex *remoting.Exchange) {
	if one, told := ex.Served(); told {
		l.served = append(l.served, one)
	}
}

// stoppingRemark says why a request is refused.
const stoppingRemark = "the broker is stopping: try again later"

// refuse answers the request of the loop while the server stops, or drops it.
func (s *Server) refuse(c *conn) {
	ex := &c.loop.ex
	if !slices.Contains(s.opts.RefusedAtStop, ex.Req.Code) {
		return
	}
	s.turn(c, remoting.ServiceNotAvailable, stoppingRemark)
	c.reply(ex)
}

func (s *Server) submit(c *conn, class remoting.Class, frame []byte) bool {
	t := newTask(c, frame)
	if s.pools[class].submit(t) {
		return true
	}
	t.free()
	return false
}

// wantsReply tells whether the answer in ex is to be sent now: a deferred one comes later, a
// oneway request gets none.
func (c *conn) wantsReply(ex *remoting.Exchange) bool {
	if ex.Deferred() {
		return false
	}
	if ex.Req.IsOneway() {
		c.releaseReply(&ex.Reply)
		return false
	}
	return true
}

// reply appends an inline request's answer to the loop's buffer.
func (c *conn) reply(ex *remoting.Exchange) {
	if !c.wantsReply(ex) {
		return
	}
	r := &ex.Reply
	l := c.loop
	l.out = remoting.AppendReplyHead(l.out, ex.Req.Opaque, r)
	if partsLen(r.Parts) > copiedParts {
		c.writeParts(r.Parts)
	} else {
		for _, part := range r.Parts {
			l.out = append(l.out, part...)
		}
		if len(l.out) >= outFlush {
			c.flushReplies()
		}
	}
	c.releaseReply(r)
}

func partsLen(parts [][]byte) (n int) {
	for _, part := range parts {
		n += len(part)
	}
	return n
}

func (c *conn) releaseReply(r *remoting.Reply) {
	if release := r.Release; release != nil {
		r.Release = nil
		c.server.guard("release of reply parts", release)
	}
}

// writeParts writes the loop's buffer and, uncopied, the parts behind it.
func (c *conn) writeParts(parts [][]byte) {
	l := c.loop
	vector := append(l.vector[:0], l.out)
	for _, part := range parts {
		if len(part) == 0 {
			continue
		}
		if len(vector) == maxVector {
			c.writev(vector)
			vector = vector[:0]
		}
		vector = append(vector, part)
	}
	c.writev(vector)
	clear(vector)
	l.vector, l.out = vector[:0], l.out[:0]
	c.checkBacklog()
}

func (c *conn) flushReplies() {
	l := c.loop
	if len(l.out) == 0 {
		return
	}
	if !c.gone() {
		_, _ = c.raw.Write(l.out)
		c.checkBacklog()
	}
	if l.out = l.out[:0]; cap(l.out) > maxKeptBuffer {
		l.out = nil
	}
}

// gone tells on the loop that gnet has closed the socket.
func (c *conn) gone() bool { return c.raw.Context() == nil }

// serveTask runs a request on a worker.
func (s *Server) serveTask(t *task) {
	defer t.free()
	c, ex := t.conn, &t.ex
	ex.Begin(c)
	if s.opts.Observer != nil {
		ex.Watch(s.opts.Observer, t.received)
	}
	if err := remoting.Decode(t.frame, &ex.Req); err != nil {
		// The loop decoded the same bytes before.
		c.close(causeMalformed, err.Error())
		return
	}
	// Who asked for an answer and has gone asks again; what was sent oneway would be lost.
	if c.dead.Load() && !ex.Req.IsOneway() {
		return
	}
	s.opts.Router.Serve(ex)
	if one, told := ex.Served(); told {
		one.Tell(s.opts.Observer.NowMillis())
	}
	if !c.wantsReply(ex) {
		return
	}
	r := &ex.Reply
	buf := buffers.Get().(*buffer)
	it := item{head: remoting.AppendReplyHead(buf.b[:0], ex.Req.Opaque, r), pooled: buf, release: r.Release}
	if len(r.Parts) > 0 {
		it.parts = append([][]byte(nil), r.Parts...)
	}
	r.Release = nil
	// A connection that cannot take the reply has closed itself and says why.
	_ = c.enqueue(it)
}
