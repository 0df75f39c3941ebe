package server

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/wheelmq/wheelmq/remoting"
)

// calls matches the answers of clients to the server's own requests.
type calls struct {
	opaque  atomic.Int32
	mu      sync.Mutex // guards waiting
	waiting map[callKey]chan *remoting.Command
}

type callKey struct {
	conn   uint64
	opaque int32
}

// Call sends a request to a client and waits for its answer, e.g. GET_CONSUMER_RUNNING_INFO.
// The answer is the caller's to keep. It fails when ctx ends or the connection closes.
// It must not be called on an event loop: use a class with workers.
func (s *Server) Call(ctx context.Context, c remoting.Conn, code int32, ext *remoting.ExtWriter, body []byte) (*remoting.Command, error) {
	key := callKey{conn: c.ID(), opaque: s.calls.opaque.Add(1)}
	answer := make(chan *remoting.Command, 1)
	s.calls.mu.Lock()
	s.calls.waiting[key] = answer
	s.calls.mu.Unlock()
	defer s.calls.forget(key)
	if err := c.Send(remoting.AppendRequest(nil, code, key.opaque, 0, ext, body)); err != nil {
		return nil, fmt.Errorf("call client %s, code %d: %w", c.RemoteAddr(), code, err)
	}
	if c.Closed() {
		return nil, fmt.Errorf("call client %s, code %d: %w", c.RemoteAddr(), code, ErrClosed)
	}
	select {
	case cmd := <-answer:
		if cmd == nil {
			return nil, fmt.Errorf("call client %s, code %d: %w", c.RemoteAddr(), code, ErrClosed)
		}
		return cmd, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("call client %s, code %d: %w", c.RemoteAddr(), code, ctx.Err())
	}
}

// Call is Server.Call for whoever has the connection.
func (c *conn) Call(ctx context.Context, code int32, ext *remoting.ExtWriter, body []byte) (*remoting.Command, error) {
	return c.server.Call(ctx, c, code, ext, body)
}

// Notify sends a request that wants no answer, e.g. NOTIFY_CONSUMER_IDS_CHANGED.
func (s *Server) Notify(c remoting.Conn, code int32, ext *remoting.ExtWriter, body []byte) error {
	return c.Send(remoting.AppendRequest(nil, code, s.calls.opaque.Add(1), remoting.FlagOneway, ext, body))
}

func (t *calls) forget(key callKey) {
	t.mu.Lock()
	delete(t.waiting, key)
	t.mu.Unlock()
}

func (t *calls) take(key callKey) chan *remoting.Command {
	t.mu.Lock()
	defer t.mu.Unlock()
	answer := t.waiting[key]
	delete(t.waiting, key)
	return answer
}

// closed ends the calls to a client that is gone.
func (t *calls) closed(conn uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key, answer := range t.waiting {
		if key.conn == conn {
			delete(t.waiting, key)
			answer <- nil
		}
	}
}

// respond leads a response frame to its Call; what nobody waits for is dropped, as the
// real broker does.
func (s *Server) respond(c *conn, cmd *remoting.Command, frame []byte) {
	if answer := s.calls.take(callKey{conn: c.id, opaque: cmd.Opaque}); answer != nil {
		kept := new(remoting.Command)
		if err := remoting.Decode(append([]byte(nil), frame...), kept); err != nil {
			kept = nil
		}
		answer <- kept
		return
	}
	if s.opts.OnResponse != nil {
		s.guard("OnResponse", func() { s.opts.OnResponse(c, cmd) })
	}
}
