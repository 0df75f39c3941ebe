package server

import (
	"context"
	"errors"
	"net/netip"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/panjf2000/gnet/v2"
	"github.com/sirupsen/logrus"
)

// Errors of conn.Send and conn.SendParts.
var (
	ErrClosed     = errors.New("connection closed")
	ErrSlowClient = errors.New("client does not read its replies")
)

// maxVector is the number of slices the kernel takes in one writev.
const maxVector = 1024

// conn is one client's connection. What is marked "loop" belongs to its event loop.
type conn struct {
	id     uint64
	server *Server
	raw    gnet.Conn
	events gnet.EventLoop
	loop   *loop
	remote netip.AddrPort
	local  netip.AddrPort

	need    int  // loop: bytes without which the next frame is not complete
	started bool // loop: the first bytes were looked at

	lastTick atomic.Int64 // Server.tick at the last traffic
	dead     atomic.Bool  // no more frames are taken
	held     atomic.Int64 // bytes that the socket did not take, as of the last write
	awaited  atomic.Int64 // requests whose answers are deferred and not yet sent

	mu     sync.Mutex // guards what follows
	queue  []item
	spare  []item // the queue's other buffer
	queued int    // bytes in queue
	awake  bool   // the loop was asked to run
	cause  string
	reason string
}

// item is one frame that waits to be written.
type item struct {
	head    []byte
	parts   [][]byte
	release func()
	pooled  *buffer // owns head when not nil
}

type buffer struct{ b []byte }

var buffers = sync.Pool{New: func() any { return new(buffer) }}

func (c *conn) ID() uint64                 { return c.id }
func (c *conn) RemoteAddr() netip.AddrPort { return c.remote }
func (c *conn) LocalAddr() netip.AddrPort  { return c.local }
func (c *conn) Closed() bool               { return c.dead.Load() }
func (c *conn) Close(reason string)        { c.close(causeServer, reason) }

// Await counts answers that are deferred: a stop waits for them.
func (c *conn) Await(more int64) { c.awaited.Add(more) }

func (c *conn) Send(frame []byte) error { return c.enqueue(item{head: frame}) }

func (c *conn) SendParts(head []byte, parts [][]byte, release func()) error {
	return c.enqueue(item{head: head, parts: parts, release: release})
}

func (it *item) size() int {
	n := len(it.head)
	for _, part := range it.parts {
		n += len(part)
	}
	return n
}

// done gives back what a frame held, written or not.
func (c *conn) done(it *item) {
	if it.pooled != nil {
		if cap(it.head) <= maxKeptBuffer {
			it.pooled.b = it.head[:0]
			buffers.Put(it.pooled)
		}
	}
	if it.release != nil {
		c.server.guard("release of reply parts", it.release)
	}
	*it = item{}
}

func (c *conn) enqueue(it item) error {
	size := it.size()
	c.mu.Lock()
	if c.dead.Load() {
		c.mu.Unlock()
		c.done(&it)
		return ErrClosed
	}
	c.queue = append(c.queue, it)
	c.queued += size
	// A single frame may be larger than the bound.
	slow := c.queued > c.server.opts.MaxOutbound && len(c.queue) > 1
	wake := !c.awake
	c.awake = true
	c.mu.Unlock()
	if slow {
		c.close(causeSlow, "outbound bound exceeded")
		return ErrSlowClient
	}
	if wake {
		c.wake()
	}
	return nil
}

// wake asks the loop for Run. A loop that has ended has closed the connection, which
// empties the queue.
func (c *conn) wake() { _ = c.events.Execute(context.Background(), c) }

// close stops the intake; the loop then writes what is queued and closes the socket.
func (c *conn) close(cause, reason string) {
	c.mu.Lock()
	first := c.dead.CompareAndSwap(false, true)
	if first {
		c.cause, c.reason = cause, reason
	}
	c.mu.Unlock()
	if first {
		c.wake()
	}
}

// Run implements gnet.Runnable: it writes the queued frames on the event loop.
func (c *conn) Run(context.Context) error {
	c.flush()
	if c.dead.Load() {
		// Closing twice is harmless: gnet ignores stale connections.
		return c.events.Close(c.raw)
	}
	return nil
}

func (c *conn) flush() {
	c.mu.Lock()
	items := c.queue
	c.queue, c.spare = c.spare[:0], nil
	c.queued, c.awake = 0, false
	slow := c.cause == causeSlow
	c.mu.Unlock()
	if len(items) > 0 && !slow {
		c.touch()
		c.writeItems(items)
	}
	for i := range items {
		c.done(&items[i])
	}
	c.mu.Lock()
	c.spare = items[:0]
	c.mu.Unlock()
	c.checkBacklog()
}

func (c *conn) writeItems(items []item) {
	l := c.loop
	vector := l.vector[:0]
	add := func(b []byte) {
		if len(b) == 0 {
			return
		}
		if len(vector) == maxVector {
			c.writev(vector)
			vector = vector[:0]
		}
		vector = append(vector, b)
	}
	for i := range items {
		add(items[i].head)
		for _, part := range items[i].parts {
			add(part)
		}
	}
	c.writev(vector)
	clear(vector)
	l.vector = vector[:0]
}

// writev writes or buffers all of vector. On failure gnet has closed the connection and
// OnClose has run; its descriptor may by then be another connection's.
func (c *conn) writev(vector [][]byte) {
	if len(vector) > 0 && !c.gone() {
		_, _ = c.raw.Writev(vector)
	}
}

// checkBacklog closes the connection of a client that does not read.
func (c *conn) checkBacklog() {
	if c.dead.Load() {
		return
	}
	held := c.raw.OutboundBuffered()
	c.held.Store(int64(held))
	if held > c.server.opts.MaxOutbound {
		c.close(causeSlow, "outbound bound exceeded")
	}
}

// Unsent is how much of what was sent to the client waits here because it does not read, bytes. What
// it has read since the last write is known a moment after the call: the loop is asked for it.
func (c *conn) Unsent() int {
	held := int(c.held.Load())
	c.mu.Lock()
	wake := held > 0 && !c.awake && !c.dead.Load()
	c.awake = c.awake || wake
	queued := c.queued
	c.mu.Unlock()
	if wake {
		c.wake()
	}
	return held + queued
}

func (c *conn) touch() { c.lastTick.Store(c.server.tick.Load()) }

// finish runs on the loop when the socket is gone.
func (c *conn) finish(err error) (cause, reason string) {
	c.mu.Lock()
	if c.dead.CompareAndSwap(false, true) {
		c.cause, c.reason = causePeer, "closed by peer"
		if err != nil {
			c.reason = err.Error()
		}
	}
	items := c.queue
	c.queue, c.queued = nil, 0
	cause, reason = c.cause, c.reason
	c.mu.Unlock()
	for i := range items {
		c.done(&items[i])
	}
	return cause, reason
}

// guard runs what belongs to others on the loop and keeps its panic from ending it.
func (s *Server) guard(what string, run func()) {
	defer func() {
		if p := recover(); p != nil {
			s.opts.Log.WithFields(logrus.Fields{"in": what, "panic": p, "stack": string(debug.Stack())}).
				Error("panic in a callback")
		}
	}()
	run()
}
